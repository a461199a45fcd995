/*
 * far: branches as long as they can be: one instruction more between them and
 * their targets and they do not reach.
 */
	.set	FILLER, 2000	/* times 16 bytes: as far as tbz reaches */
	.text
	.macro fn name
	.globl	\name
	.type	\name, %function
	.p2align 2
\name:
	.cfi_startproc
	.endm
	.macro end_fn name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/* 16 bytes, two blocks: counts in x1, if x0 is odd twice */
	.macro step
	add	x1, x1, #1
	tbz	x0, #0, 1f
	add	x1, x1, #1
1:	eor	x1, x1, x0
	.endm

	/* long far_forward(long n): skips a megabyte if n is 0 or 1 */
	fn	far_forward
	mov	x1, #0
	cmp	x0, #1
	cbz	x0, 2f
	b.eq	3f
	step
	cbz	x1, 4f		/* never */
	tbz	x1, #63, 5f	/* always */
4:	.rept	FILLER
	step
	.endr
5:	b	3f
	.rept	65535 - FILLER - 2
	step
	.endr
2:	add	x1, x1, #5
3:	add	x0, x1, #5
	ret
	end_fn	far_forward

	/* long far_back(long n): a loop of a megabyte, most of it skipped */
	fn	far_back
	mov	x1, #0
2:	step
	b	5f
	.rept	65535 - FILLER - 3
	step
	.endr
5:	cbnz	x1, 6f		/* always */
	.rept	FILLER
	step
	.endr
6:	subs	x0, x0, #1
	b.gt	2b
	cbnz	x0, 7f
	mov	x0, x1
7:	ret
	end_fn	far_back

	/* long far_bits(long n): the same for bits, 32 KB */
	fn	far_bits
	mov	x1, #0
2:	sub	x0, x0, #1
	tbnz	x0, #62, 3f
	.rept	2047
	step
	.endr
	nop
3:	add	x1, x1, #3
	.rept	2046
	step
	.endr
	tbz	x0, #63, 4f
	mov	x0, x1
	ret
4:	tbz	x0, #61, 5f
	b	2b
5:	.rept	1
	step
	.endr
	cbnz	x0, 2b
	mov	x0, x1
	ret
	end_fn	far_bits
	.section .note.GNU-stack, "", %progbits
