/*
 * trace: what code of a traced program calls, see abi/trace.h and
 * runtime/trace.c. All registers are kept but the one that is an argument,
 * flags but that of the direction are not.
 *
 *	flush	the thread's word of bits is full
 *	site	%r11: the site's word, of the first thread; 16(%rsp): where its
 *		jump, call or return leads
 *	frame	%r11: so far below its place at the jump the stack pointer was
 *		when the target was pushed; 16(%rsp): the target
 *	enter	%r11: the address of a procedure, at its entry
 *	arrive	%r11: that of a place within one; %r10: the stack pointer
 *
 * A thread that is interrupted within finds its word of bits as it was before
 * the routine or as it is behind it: runtime/trace.c sees to that.
 */
#include "abi/trace.h"

#define ON_TRACE 56 /* abi/launch_env.h */
/* the site may have kept %r11 in so much room below its stack pointer */
#define SPARE 64
#define FULL 56
#define STEP 7

	.text	1
pages:
	.text	2
pages_end:
	.text	0
start:
page:	.quad	0
word:	.quad	0
	.quad	0, 0
	.rept	2
	.long	flush - start, site - start, frame - start
	.long	enter - start, arrive - start, 0, 0, 0
	.endr
	.fill	16, 4, 0
	.long	pages - start, (pages_end - pages) / 4

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

	/* rcx = rcx << bits | from, to the thread's word */
	.macro	append bits, from
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rcx
	shl	$\bits, %rcx
	or	\from, %rcx
	paged	mov %rcx, %gs:start+TRACE_PAGE_BITS(%rip)
	shr	$FULL, %rcx
	jz	98f
	call	flush
98:
	.endm

flush:
	begin
	paged	mov %gs:start+TRACE_PAGE_NEXT(%rip), %rcx
	paged	cmp %gs:start+TRACE_PAGE_LIMIT(%rip), %rcx
	jae	9f
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rdx
	mov	%rdx, (%rcx)
	/* a process that is killed in between loses bits, but writes none
	   twice */
	mov	$1, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_BITS(%rip)
	add	$8, %rcx
	paged	mov %rcx, %gs:start+TRACE_PAGE_NEXT(%rip)
	end
9:	push	%rdi
	push	%r10
	mov	$TRACE_FLUSH, %edi
	call	ask
	pop	%r10
	pop	%rdi
	end

site:
	begin
	mov	32(%rsp), %rdx
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	mov	%rdx, %rcx
	paged	xor %gs:start+TRACE_PAGE_KEY(%rip), %rcx
	cmp	%rcx, %gs:(%r11)
	jne	1f
	append	1, $0
	end
1:	paged	mov %gs:start+TRACE_PAGE_TARGETS(%rip), %rcx
	test	%rcx, %rcx
	jz	9f
	push	%rax
	mov	%rdx, %rax
	shr	$TARGET_SHIFT, %rax
	and	$(1 << TARGET_BITS) - 1, %eax
	cmp	%rdx, (%rcx,%rax,8)
	jne	8f
	paged	xor %gs:start+TRACE_PAGE_KEY(%rip), %rdx
	mov	%rdx, %gs:(%r11)
	or	$1 << TARGET_BITS, %eax
	mov	%eax, %edx
	shr	$STEP, %edx
	append	(TARGET_BITS+1-STEP), %rdx
	and	$(1 << STEP) - 1, %eax
	append	STEP, %rax
	pop	%rax
	end
8:	pop	%rax
9:	push	%rdi
	push	%r10
	mov	$TRACE_SITE, %edi
	lea	32(%rsp), %r10
	call	ask
	pop	%r10
	pop	%rdi
	end

frame:
	begin
	push	%rdi
	push	%r10
	mov	$TRACE_FRAME, %edi
	lea	32(%rsp), %r10
	call	ask
	pop	%r10
	pop	%rdi
	end

enter:
	paged	cmp %gs:start+TRACE_PAGE_EXPECT(%rip), %r11
	jne	9f
	begin
	xor	%edx, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	end
9:	lea	-SPARE(%rsp), %rsp
	begin
	push	%r10
	push	%rdi
	lea	(SPARE + 5 * 8)(%rsp), %r10
	mov	$TRACE_ENTER, %edi
	call	ask
	pop	%rdi
	pop	%r10
	pop	%rdx
	pop	%rcx
	lea	SPARE(%rsp), %rsp
	ret

arrive:
	begin
	paged	cmp %gs:start+TRACE_PAGE_EXPECT(%rip), %r11
	jne	9f
	xor	%edx, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	end
9:	push	%rdi
	mov	$TRACE_ARRIVE, %edi
	call	ask
	pop	%rdi
	end

/* on_trace(edi, r11, r10, page, launch_env), if there is one: else bits are
   lost; loses rcx and rdx, which are saved */
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
	mov	ON_TRACE(%r8), %r9
	test	%r9, %r9
	jz	1f
	push	%rbp
	mov	%rsp, %rbp
	push	%r10
	push	%r11
	pushf	/* the direction flag is the program's */
	mov	%r11, %rsi
	mov	%r10, %rdx
	paged	lea start(%rip), %rcx
	and	$-16, %rsp
	cld
	call	*%r9
	lea	-24(%rbp), %rsp
	popf
	pop	%r11
	pop	%r10
	pop	%rbp
	jmp	2f
1:	mov	$1, %ecx
	paged	mov %rcx, %gs:start+TRACE_PAGE_BITS(%rip)
2:	pop	%r9
	pop	%r8
	pop	%rsi
	pop	%rax
	ret

	.section .note.GNU-stack, "", @progbits
