/*
 * entry: where a rewritten program begins, see entry.c. Before it lie two
 * distances from the first of them, which tally fills in (hooks/hooks.c): to
 * the object_header, and to where the program begins by itself. All registers
 * are as the kernel or a loader left them, but for r11, which means nothing
 * there (psABI, 3.4.1), and flags.
 */
	.section .text.entry, "ax"
	.globl	distances
	.hidden	distances
distances:
	.quad	0, 0
	push	%rbp
	mov	%rsp, %rbp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	and	$-16, %rsp
	lea	8(%rbp), %rdi
	lea	distances(%rip), %rsi
	add	(%rsi), %rsi
	call	enter
	lea	-64(%rbp), %rsp
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	pop	%rbp
	lea	distances(%rip), %r11
	add	8(%r11), %r11
	jmp	*%r11

/*
 * thread_starts: what a thread runs first, with what hooks.c made of its
 * routine. It becomes that routine: nothing of ours is on the stack then.
 */
	.text
	.globl	thread_starts
	.hidden	thread_starts
thread_starts:
	sub	$8, %rsp
	call	thread_routine
	add	$8, %rsp
	mov	%rdx, %rdi
	jmp	*%rax

	.section .note.GNU-stack, "", %progbits
