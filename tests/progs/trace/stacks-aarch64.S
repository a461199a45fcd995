/*
 * stacks: three ways to switch stacks, as no compiler would.
 *
 *	void switch_NAME(void **from, void *to)
 *
 * push_ret: registers are saved on the stack, the stack pointer is loaded, ret.
 * by_jump: the return address is loaded into another register and jumped to.
 * by_frame: the stack pointer is that of a frame that lies on the other stack.
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
	sub	sp, sp, #112
	stp	x19, x20, [sp]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	str	x29, [sp, #80]
	str	x30, [sp, #96]
	mov	x9, sp
	str	x9, [x0]
	.endm
	.macro	restore base
	ldp	x19, x20, [\base]
	ldp	x21, x22, [\base, #16]
	ldp	x23, x24, [\base, #32]
	ldp	x25, x26, [\base, #48]
	ldp	x27, x28, [\base, #64]
	.endm

	fn	switch_push_ret
	keep
	mov	sp, x1
	restore	sp
	ldr	x29, [sp, #80]
	ldr	x30, [sp, #96]
	add	sp, sp, #112
	ret
	end_fn	switch_push_ret

	fn	switch_by_jump
	keep
	mov	sp, x1
	restore	sp
	ldr	x29, [sp, #80]
	ldr	x9, [sp, #96]
	add	sp, sp, #112
	br	x9
	end_fn	switch_by_jump

	fn	switch_by_frame
	keep
	add	x29, x1, #80
	restore	x1
	mov	sp, x29
	ldr	x30, [sp, #16]
	ldr	x29, [sp], #32
	ret
	end_fn	switch_by_frame

	.section .note.GNU-stack, "", @progbits
