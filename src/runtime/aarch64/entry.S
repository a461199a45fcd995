/*
 * entry: where a rewritten program begins, see entry.c. Before it lie two
 * distances from the first of them, which tally fills in (hooks/hooks.c): to
 * the object_header, and to where the program begins by itself. All
 * registers are as the kernel or a loader left them.
 */
	.section .text.entry, "ax"
	.globl	distances
	.hidden	distances
distances:
	.quad	0, 0
	stp	x0, x1, [sp, #-96]!
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x18, [sp, #64]
	stp	x29, x30, [sp, #80]
	add	x0, sp, #96
	adr	x1, distances
	ldr	x2, [x1]
	add	x1, x1, x2
	bl	enter
	ldp	x29, x30, [sp, #80]
	ldp	x8, x18, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #96
	adr	x16, distances
	ldr	x17, [x16, #8]
	add	x16, x16, x17
	br	x16

/*
 * thread_starts: what a thread runs first, with what hooks.c made of its
 * routine. It becomes that routine: nothing of ours is on the stack then.
 */
	.text
	.globl	thread_starts
	.hidden	thread_starts
thread_starts:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	thread_routine
	ldp	x29, x30, [sp], #16
	mov	x16, x0
	mov	x0, x1
	br	x16

	.section .note.GNU-stack, "", %progbits
