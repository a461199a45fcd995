/*
 * routines: what calls.S and trace.S have in common (abi/routines.h), for the
 * assembler. Code of the program calls a routine with arguments in x16 and
 * x17; all other registers are kept.
 */
#ifndef RUNTIME_ROUTINES_H
#define RUNTIME_ROUTINES_H

#define TELL_WORD 8 /* routines_code.word */
#define FRAME 96
#define ASKED 176 /* bytes of struct arch_asked */

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
	.quad	0, 0, 0, 0
	.macro	offset name
	.long	\name - start
	.endm
	/* the branch that threads need (begin) */
	.macro	branch name
	.long	0x14000000 + (\name\()_threads - \name - 8) / 4
	.endm
	/* behind both of each */
	.macro	lists
	.word	pages - start, (pages_end - pages) / 4
	.word	places - start, (places_end - places) / 16
	.endm

	/*
	 * x9: the thread's running page. Tally makes the second instruction
	 * lead to the page; once there are threads, the third is a branch to
	 * code that asks which one it is (calls_convert()).
	 */
	.macro	begin_short
	stp	x9, x10, [sp, #-FRAME]!
77:	adrp	x9, start
	nop
	.text	1
	.word	77b - start
	.text	0
8:
	.endm

	.macro	begin
	begin_short
	stp	x11, x12, [sp, #16]
	.endm

	/* that code; what else is the thread's own: x16, if it says so */
	.macro	threads name, op, own
\name\()_\op\()_threads:
	mrs	x10, tpidr_el0
	ldr	x10, [x10, #8]
	\op	x9, x9, x10
	.ifnb	\own
	\op	\own, \own, x10
	.endif
	b	8b
	.endm

	.macro	end
	ldp	x11, x12, [sp, #16]
	ldp	x9, x10, [sp], #FRAME
	ret
	.endm

	.macro	save_more
	stp	x13, x14, [sp, #32]
	stp	x15, x8, [sp, #48]
	.endm

	.macro	end_more
	ldp	x13, x14, [sp, #32]
	ldp	x15, x8, [sp, #48]
	end
	.endm

	/* what is not done here; more: save_more was */
	.macro	slow what, more
	.ifeq	\more
	save_more
	.endif
	stp	x7, x6, [sp, #64]
	mov	w10, #\what
	b	ask
	.endm

	/*
	 * ask: the function whose address is at \on in the launch environment,
	 * of w10, x16, x17, x9, that, and the registers that calls keep
	 * (struct arch_asked); if there is none, what \otherwise does. Flags
	 * are kept.
	 */
	.macro	asks on, otherwise
ask:
	ldr	x11, start + TELL_WORD
	adr	x12, start
	ldr	x11, [x12, x11]
	cbz	x11, 1f
	ldr	x12, [x11, #\on]
	cbz	x12, 1f
	stp	x29, x30, [sp, #-ASKED]!
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x16, x17, [sp, #64]
	mrs	x0, nzcv
	stp	x18, x0, [sp, #80]
	stp	x19, x20, [sp, #96]
	stp	x21, x22, [sp, #112]
	stp	x23, x24, [sp, #128]
	stp	x25, x26, [sp, #144]
	stp	x27, x28, [sp, #160]
	mov	x5, sp
	mov	w0, w10
	mov	x1, x16
	mov	x2, x17
	mov	x3, x9
	mov	x4, x11
	blr	x12
	ldp	x18, x0, [sp, #80]
	msr	nzcv, x0
	ldp	x16, x17, [sp, #64]
	ldp	x4, x5, [sp, #48]
	ldp	x2, x3, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #ASKED
	b	2f
1:	\otherwise
2:	ldp	x7, x6, [sp, #64]
	end_more
	.endm

#endif
