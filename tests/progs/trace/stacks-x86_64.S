/*
 * stacks: three ways to switch stacks, as no compiler would.
 *
 *	void switch_NAME(void **from, void *to)
 *
 * push_ret: registers are pushed, the stack pointer is loaded, ret. by_jump:
 * the return address is popped and jumped to. by_frame: leave and ret, of a
 * frame that lies on the other stack.
 */
	.text
	.macro	fn name
	.p2align 4
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	end_fn name
	.size	\name, . - \name
	.endm
	.macro	keep
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm
	.macro	restore
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	.endm

	fn	switch_push_ret
	keep
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	restore
	pop	%rbp
	ret
	end_fn	switch_push_ret

	fn	switch_by_jump
	keep
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	restore
	pop	%rbp
	pop	%rcx
	jmp	*%rcx
	end_fn	switch_by_jump

	fn	switch_by_frame
	keep
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	restore
	mov	%rsp, %rbp
	leave
	ret
	end_fn	switch_by_frame

	.section .note.GNU-stack, "", @progbits
