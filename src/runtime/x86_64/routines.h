/*
 * routines: what calls.S and trace.S have in common (abi/routines.h), for the
 * assembler. Code of the program calls a routine with arguments in %r11 and
 * %r10, or on the stack; all other registers are kept, flags but that of the
 * direction are not.
 */
#ifndef RUNTIME_ROUTINES_H
#define RUNTIME_ROUTINES_H

/* the site may have kept %r11 in so much room below its stack pointer */
#define SPARE 64

	.text	1
pages:
	.text	2
pages_end:
	.text	3
places:
	.text	4
places_end:
	.text	0
start:
page:	.quad	0
word:	.quad	0
nevent:	.quad	0
entry:	.quad	0

	/* behind the offsets of routines: no branches, and the lists */
	.macro	lists
	.fill	16, 4, 0
	.long	pages - start, (pages_end - pages) / 4
	.long	places - start, (places_end - places) / 16
	.endm

	/*
	 * An instruction that ends with the distance to the running page, which
	 * is that to `start` as yet: tally adds what is between them.
	 */
	.macro	paged code:vararg
	\code
99:	.text	1
	.long	99b - 4 - start
	.text	0
	.endm

	.macro	begin
	push	%rcx
	push	%rdx
	.endm

	.macro	end
	pop	%rdx
	pop	%rcx
	ret
	.endm

	/*
	 * ask: the function whose address is at \on in the launch environment,
	 * of edi, r11, r10, the page, that, and the registers that calls keep
	 * (struct arch_asked); if there is none, what \otherwise does. Loses
	 * rcx and rdx, which are saved.
	 */
	.macro	asks on, otherwise
ask:
	push	%rax
	push	%rsi
	push	%r8
	push	%r9
	lea	start(%rip), %rcx
	add	word(%rip), %rcx
	mov	(%rcx), %r8
	test	%r8, %r8
	jz	1f
	mov	\on(%r8), %rax
	test	%rax, %rax
	jz	1f
	push	%rbp
	mov	%rsp, %rbp
	push	%r10
	push	%r11
	pushf	/* the direction flag is the program's */
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	(%rbp)
	push	%rbx
	mov	%rsp, %r9
	mov	%r11, %rsi
	mov	%r10, %rdx
	paged	lea start(%rip), %rcx
	and	$-16, %rsp
	cld
	call	*%rax
	lea	-24(%rbp), %rsp
	popf
	pop	%r11
	pop	%r10
	pop	%rbp
	jmp	2f
1:	\otherwise
2:	pop	%r9
	pop	%r8
	pop	%rsi
	pop	%rax
	ret
	.endm

#endif
