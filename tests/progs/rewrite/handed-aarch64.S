/*
 * handed: no unwind tables, no types, no sizes, as video codecs have it. The
 * helper has ways of its own; the table decodes like a procedure, and ends like
 * one, but reads registers that nobody sets.
 */
	.text
	.globl	handed_sum, handed_helper, handed_table, handed_table_end
	.hidden	handed_sum, handed_helper, handed_table, handed_table_end
	.p2align 4
handed_sum:
	stp	x19, x30, [sp, #-32]!
	str	x20, [sp, #16]
	mov	x19, #0
	mov	x20, x0
	add	x1, x0, x1, lsl #3
	cmp	x20, x1
	b.eq	2f
1:	ldr	x11, [x20]
	bl	handed_helper
	add	x19, x19, x11
	add	x20, x20, #8
	cmp	x20, x1
	b.ne	1b
2:	mov	x0, x19
	add	x0, x0, #1
	ldr	x20, [sp, #16]
	ldp	x19, x30, [sp], #32
	ret
	.p2align 4
handed_helper:
	add	x11, x11, x11, lsl #1
	add	x11, x11, #1
	ret
	.p2align 4
handed_table:
	.rept	10
	ldr	x10, [x12]
	add	x1, x1, x10
	.endr
	ret
handed_table_end:
	.section .note.GNU-stack, "", @progbits
