/*
 * calls: open calls of a thread, see abi/calls.h and runtime/calls.c. Before
 * and behind calls, and where procedures are entered by their address, code of
 * the program calls one of these routines with
 *
 *	x16	the site's record, or the procedure's word, of the first thread
 *	x17	the caller's stack pointer
 *
 * All other registers are kept, flags are not. What is not the rule is left to
 * runtime/calls.c. A signal's handler leaves the stack as it finds it: an entry
 * is taken first and then filled; and it runs between no load and store of a
 * sum (runtime/aarch64/arch.h, arch_accumulates()).
 */
#include "abi/calls.h"

#define ON_CALLS 48 /* abi/launch_env.h */
#define TELL_WORD 8 /* calls_code.word */
#define NEVENT 16
#define ENTRY 24

	.text
start:
	.quad	0, 0, 0, 0
	.long	push_add - start, open_add - start, enter_add - start
	.long	close_add - start, land_add - start
	.long	push_sub - start, open_sub - start, enter_sub - start
	.long	close_sub - start, land_sub - start

	.macro	begin
	stp	x9, x10, [sp, #-80]!
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	stp	x15, x8, [sp, #48]
	stp	x7, x6, [sp, #64]
	.endm

	.macro	end
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x15, x8, [sp, #48]
	ldp	x7, x6, [sp, #64]
	ldp	x9, x10, [sp], #80
	ret
	.endm

	/* fewer registers are enough */
	.macro	begin_push
	stp	x9, x10, [sp, #-80]!
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	.endm

	.macro	end_push
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x9, x10, [sp], #80
	ret
	.endm

	/* x10: the thread's running page, x16: its record or word */
	.macro	thread op
	ldr	x11, start
	adr	x10, start
	add	x10, x10, x11
	ldr	x9, [x10, #PAGE_THREADS]
	cbz	x9, 7f
	mrs	x9, tpidr_el0
	ldr	x9, [x9, #8]
	\op	x10, x10, x9
	\op	x16, x16, x9
7:
	.endm

	/* x11: a new entry, on top; to 9: there is no room */
	.macro	take
	ldr	x11, [x10, #PAGE_TOP]
	ldr	x12, [x10, #PAGE_LIMIT]
	ldr	x9, start + ENTRY
	add	x11, x11, x9
	cmp	x11, x12
	b.hi	9f
	str	x11, [x10, #PAGE_TOP]
	.endm

	/* the entry in x11 begins with the events so far; loses x9 to x14 */
	.macro	counts
	ldr	x9, start + NEVENT
	add	x12, x10, #PAGE_LEAVES
	add	x11, x11, #ENTRY_BEGIN
3:	ldr	x13, [x10], #8
	ldr	x14, [x12], #8
	add	x13, x13, x14
	str	x13, [x11], #8
	sub	x9, x9, #1
	cbnz	x9, 3b
	.endm

	.macro	one_more record
	ldr	x12, [\record, #RECORD_CALLS]
	add	x12, x12, #1
	str	x12, [\record, #RECORD_CALLS]
	.endm

	.macro	push op
	begin_push
	thread	\op
	ldr	x13, [x16, #RECORD_CALLEE]
	cbz	x13, 9f
	take
	stp	x17, x16, [x11]
	stp	x16, x13, [x11, #ENTRY_RECORD]
	ldr	x12, [x13]
	cbnz	x12, 1f
	str	x11, [x13]
1:	one_more x16
	counts
	end_push
9:	stp	x15, x8, [sp, #48]
	stp	x7, x6, [sp, #64]
	mov	w9, #CALLS_PUSH
	b	ask
	.endm

	.macro	open op
	begin_push
	thread	\op
	ldr	x13, [x16, #RECORD_SELF]
	cbz	x13, 9f
	take
	stp	x17, x16, [x11]
	stp	x16, xzr, [x11, #ENTRY_RECORD]
	counts
	end_push
9:	stp	x15, x8, [sp, #48]
	stp	x7, x6, [sp, #64]
	mov	w9, #CALLS_OPEN
	b	ask
	.endm

	/* the call on top is of this procedure, if it has the stack pointer */
	.macro	enter op
	begin
	thread	\op
	ldr	x11, [x10, #PAGE_TOP]
	cbz	x11, 9f
	ldp	x14, x15, [x11, #ENTRY_RECORD]
	ldr	x12, [x11, #ENTRY_SP]
	cbnz	x15, 9f
	and	x12, x12, #~ENTRY_TAIL
	cmp	x12, x17
	b.ne	9f
1:	ldr	x15, [x14, #RECORD_CALLEE]
	cmp	x15, x16
	b.eq	2f
	ldr	x14, [x14, #RECORD_NEXT]
	cbnz	x14, 1b
	b	9f
2:	stp	x14, x16, [x11, #ENTRY_RECORD]
	ldr	x15, [x16]
	cbnz	x15, 3f
	str	x11, [x16]
3:	one_more x14
	end
9:	mov	w9, #CALLS_ENTER
	b	ask
	.endm

	/* jumps that end with the call, and that */
	.macro	close op
	begin
	thread	\op
1:	ldr	x11, [x10, #PAGE_TOP]
	cbz	x11, 9f
	ldp	x12, x13, [x11]
	ldp	x14, x15, [x11, #ENTRY_RECORD]
	cbz	x15, 9f
	sub	x12, x12, x17
	cbz	x12, 2f
	cmp	x12, #ENTRY_TAIL
	b.eq	3f
	b	9f
2:	cmp	x13, x16
	b.ne	9f
3:	ldr	x9, [x15]
	sub	x9, x9, x11
	cbnz	x9, 4f
	str	xzr, [x15]
4:	ldr	x8, start + NEVENT
	add	x13, x11, #ENTRY_BEGIN
	add	x14, x14, #RECORD_VALUES
	lsl	x6, x8, #3
	mov	x7, x10
5:	ldr	x15, [x7, #PAGE_LEAVES]
	ldr	x17, [x7], #8
	add	x15, x15, x17
	ldr	x17, [x13], #8
	sub	x15, x15, x17
	ldr	x17, [x14]
	add	x17, x17, x15
	str	x17, [x14]
	cbnz	x9, 6f
	ldr	x17, [x14, x6]
	add	x17, x17, x15
	str	x17, [x14, x6]
6:	add	x14, x14, #8
	sub	x8, x8, #1
	cbnz	x8, 5b
	ldr	x17, [x11, #ENTRY_SP]
	sub	x17, x17, x12
	ldr	x9, start + ENTRY
	sub	x9, x11, x9
	str	x9, [x10, #PAGE_TOP]
	cbnz	x12, 1b
	end
9:	mov	w9, #CALLS_CLOSE
	b	ask
	.endm

	.macro	land op
	begin
	thread	\op
	mov	w9, #CALLS_LAND
	b	ask
	.endm

push_add:
	push	add
open_add:
	open	add
enter_add:
	enter	add
close_add:
	close	add
land_add:
	land	add
push_sub:
	push	sub
open_sub:
	open	sub
enter_sub:
	enter	sub
close_sub:
	close	sub
land_sub:
	land	sub

/* on_calls(w9, x16, x17, x10, launch_env), if there is one */
ask:
	ldr	x11, start + TELL_WORD
	adr	x12, start
	ldr	x11, [x12, x11]
	cbz	x11, 1f
	ldr	x12, [x11, #ON_CALLS]
	cbz	x12, 1f
	stp	x29, x30, [sp, #-128]!
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x16, x17, [sp, #64]
	str	x18, [sp, #80]
	mov	w0, w9
	mov	x1, x16
	mov	x2, x17
	mov	x3, x10
	mov	x4, x11
	blr	x12
	ldr	x18, [sp, #80]
	ldp	x16, x17, [sp, #64]
	ldp	x4, x5, [sp, #48]
	ldp	x2, x3, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #128
1:	end

	.section .note.GNU-stack, "", %progbits
