/*
 * pool: assembler with data between code, literals of every kind, adr and
 * adrp, a branch out to an instruction and back (the shape of linkers'
 * veneers for erratum 843419), and branches that no compiler writes.
 */
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

	/* unsigned long pool_words(long n): sums of literals */
	fn	pool_words
	ldr	x1, .Lx
	ldr	w2, .Lw
	ldrsw	x3, .Lsw
	ldr	x4, .Lodd + 4
	prfm	pldl1keep, .Lx
	add	x0, x0, x1
	add	x0, x0, x2
	add	x0, x0, x3
	eor	x0, x0, x4
	b	1f
.Lx:	.quad	0x123456789abcdef0
.Lw:	.word	0x89abcdef
.Lsw:	.word	-77
	.p2align 3
.Lodd:	.word	1
	.quad	0xfedcba9876543210
1:	ldr	x1, =0x1122334455667788
	add	x0, x0, x1
	ret
	end_fn	pool_words
	.ltorg

	/* long pool_hidden(void): data that no instruction seems to load */
	fn	pool_hidden
	adr	x1, 2f
	sub	x1, x1, #8
	ldp	w0, w1, [x1]
	add	x0, x0, x1
	cbz	x0, 2f
	ret
	.word	42, 7
2:	mov	x0, #1
	ret
	end_fn	pool_hidden

	/* double pool_floats(double) */
	fn	pool_floats
	ldr	d1, .Ld
	ldr	s2, .Ls
	ldr	q3, .Lq
	fcvt	d2, s2
	fadd	d0, d0, d1
	fmul	d0, d0, d2
	fadd	d0, d0, d3
	mov	d4, v3.d[1]
	fadd	d0, d0, d4
	ret
	.p2align 4
.Lq:	.double	0.5, 0.25
.Ld:	.double	10.0
.Ls:	.float	3.0
	end_fn	pool_floats

	/* long pool_addresses(void): adr and adrp of data and of code */
	fn	pool_addresses
	adr	x0, .Ltable
	ldr	w1, [x0, #4]
	adrp	x2, pool_data
	add	x2, x2, :lo12:pool_data
	ldr	w3, [x2]
	adr	x4, .Lback
	br	x4
	brk	#1
.Lback:	add	x0, x1, x3
	ret
.Ltable:
	.word	5, 17, 23
	end_fn	pool_addresses

	/* long pool_table(unsigned n): a table of halves in the text */
	fn	pool_table
	cmp	w0, #3
	b.hi	9f
	adr	x1, .Lhalves
	ldrsh	w2, [x1, w0, uxtw #1]
	adr	x3, .Lbase
	add	x3, x3, w2, sxth #2
	br	x3
.Lhalves:
	.hword	(.L0 - .Lbase) / 4, (.L1 - .Lbase) / 4
	.hword	(.L2 - .Lbase) / 4, (.L3 - .Lbase) / 4
.Lbase:
.L0:	mov	x0, #100
	ret
.L1:	mov	x0, #200
	ret
.L2:	mov	x0, #300
	ret
.L3:	mov	x0, #400
	ret
9:	mov	x0, #-1
	ret
	end_fn	pool_table

	/* long pool_veneer(const long *p): a load that was moved away */
	fn	pool_veneer
	mov	x1, x0
	b	.Lveneer
.Lreturn:
	add	x0, x0, #1
	ret
	end_fn	pool_veneer

	/* void *pool_returns(void): ret and br by other registers */
	fn	pool_returns
	mov	x9, x30
	adr	x30, 1f
	ret	x9
1:	brk	#2
	end_fn	pool_returns

	fn	pool_br_lr
	add	x0, x0, #3
	br	x30
	end_fn	pool_br_lr

	/* long pool_always(long): b.al */
	fn	pool_always
	b.al	1f
	brk	#3
1:	tbz	x0, #63, 2f
	neg	x0, x0
2:	tbnz	w0, #0, 3f
	add	x0, x0, #1
3:	cbz	w0, 4f
	cbnz	x0, 5f
4:	mov	x0, #9
5:	ret
	end_fn	pool_always

	/* falls into the next function */
	fn	pool_falls
	add	x0, x0, #10
	end_fn	pool_falls
	fn	pool_into
	add	x0, x0, #5
	ret
	end_fn	pool_into

	/* long pool_inside(long n): a jump into a block that nobody foresees */
	fn	pool_inside
	adr	x1, 1f
	add	x1, x1, x0, lsl #2
	br	x1
1:	add	x0, x0, #20
	add	x0, x0, #7
	ret
	end_fn	pool_inside

	brk	#4
	.word	0xffffffff, 0x12345678	/* data that nobody decodes */
.Lveneer:
	ldr	x0, [x1]
	b	.Lreturn

	.section .rodata
	.p2align 3
pool_data:
	.word	1000
	.section .note.GNU-stack, "", %progbits
