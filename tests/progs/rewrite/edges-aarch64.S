/* edges: what compilers do not write, or not on demand; see edges.cc. */

	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 2
\name:
	.cfi_startproc
	.endm
	.macro	finish name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
/* both ways of a branch lead to one block */
	begin	edges_both
	tbz	x0, #0, 1f
1:	add	x0, x0, #3
	cbz	x0, 2f
2:	ret
	finish	edges_both

/* a block that is its own successor, by a branch and by a jump */
	begin	edges_self
	and	x1, x0, #7
1:	subs	x1, x1, #1
	b.gt	1b
	mov	x2, #5
2:	subs	x2, x2, #1
	csel	x2, x2, xzr, ge
	cbz	x2, 3f
	b	2b
3:	ret
	finish	edges_self

/* a loop back to the entry, which is called as well */
	begin	edges_entry
	sub	x0, x0, #3
	cmp	x0, #0
	b.gt	edges_entry
	ret
	finish	edges_entry

/* one procedure runs on into the next, which others call */
	begin	edges_first
	add	x0, x0, #1
	tbnz	x0, #1, edges_second
	add	x0, x0, #2
	finish	edges_first
	begin	edges_second
	lsl	x0, x0, #1
	ret
	finish	edges_second

/* jumps out of the procedure, on a condition and without one */
	begin	edges_jump
	tbz	x0, #0, edges_second
	sub	x0, x0, #1
	b	edges_both
	finish	edges_jump

/* a table, all registers that a copy could use in use: it is not copied */
	begin	edges_crowded
	cmp	x0, #3
	b.hi	9f
	adrp	x1, crowded_table
	add	x1, x1, :lo12:crowded_table
	mov	x3, #3
	mov	x4, #4
	mov	x5, #5
	mov	x6, #6
	mov	x7, #7
	mov	x8, #8
	mov	x9, #9
	mov	x10, #10
	mov	x11, #11
	mov	x12, #12
	mov	x13, #13
	mov	x14, #14
	mov	x15, #15
	mov	x16, #16
	mov	x17, #17
	ldr	x2, [x1, x0, lsl #3]
	br	x2
1:	add	x0, x0, x3
2:	add	x0, x0, x1
	add	x0, x0, x2
	sub	x0, x0, x2
	sub	x0, x0, x1
	add	x0, x0, x4
	add	x0, x0, x5
	add	x0, x0, x6
3:	add	x0, x0, x7
	add	x0, x0, x8
	add	x0, x0, x9
	add	x0, x0, x10
	add	x0, x0, x11
	add	x0, x0, x12
4:	add	x0, x0, x13
	add	x0, x0, x14
	add	x0, x0, x15
	add	x0, x0, x16
	add	x0, x0, x17
9:	ret
	finish	edges_crowded
	.section .data.rel.ro, "aw"
	.p2align 3
crowded_table:
	.quad	1b, 2b, 3b, 4b
	.text

/* compare and swap by exclusives, with a way out before the store */
	begin	edges_swap
1:	ldxr	x2, [x0]
	cmp	x2, x1
	b.ne	2f
	add	x3, x2, #5
	tbz	x3, #0, 4f
	sub	x3, x3, #2
4:	stxr	w4, x3, [x0]
	cbnz	w4, 1b
2:	mov	x0, x2
	tbz	x0, #2, 3f
	add	x0, x0, #1
3:	ret
	finish	edges_swap

/* a jump into the middle of another procedure */
	begin	edges_inward
	add	x0, x0, #9
	tbz	x0, #0, inward_middle
	ret
	finish	edges_inward
	begin	edges_behind
	tbz	x0, #1, inward_middle
	sub	x0, x0, #1
inward_middle:
	eor	x0, x0, #4
	ret
	finish	edges_behind

/* a call by pointer in tail position, with the pointer's own way back */
	begin	edges_call
	mov	x2, x0
	mov	x0, x1
	br	x2
	finish	edges_call
	.section .note.GNU-stack, "", %progbits
