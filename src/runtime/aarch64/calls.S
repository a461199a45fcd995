/*
 * calls: open calls of a thread, see abi/calls.h and runtime/calls.c. Before
 * and behind calls, and where procedures are entered by their address, code of
 * the program calls one of these routines with
 *
 *	x16	the site's record, or the procedure's word, of the first thread
 *	x17	the caller's stack pointer
 *
 * All other registers are kept, flags are not. What is not the rule is left to
 * runtime/calls.c. An entry is filled, and then on top: a signal's handler leaves
 * the stack as it finds it, and does not touch the next entries; and it runs
 * between no load and store of a sum (arch_accumulation()).
 *
 * It is assembled for some numbers of EVENTS, and for any number: 0.
 */
#include "abi/calls.h"
#include "runtime/aarch64/routines.h"

#define ON_CALLS 48 /* abi/launch_env.h */
#define NEVENT 16
#define ENTRY 24

	.macro	each what, op
	\what	push_\op
	\what	open_\op
	\what	enter_\op
	\what	close_\op
	\what	land_\op
	\what	leaf_\op
	\what	leaf_end_\op
	\what	return_\op
	.endm
	each	offset, add
	each	offset, sub
	each	branch, add
	each	branch, sub
	lists

	/* x10: the next entry; to 9: there is no room */
	.macro	take
	ldp	x10, x11, [x9, #PAGE_TOP]
#if EVENTS
	add	x10, x10, #ENTRY_SIZE(EVENTS)
#else
	ldr	x12, start + ENTRY
	add	x10, x10, x12
#endif
	cmp	x10, x11
	b.hi	9f
	.endm

	/* the events so far, from \offset behind \to on; loses x11 and x12 */
	.macro	counts to, offset
#if EVENTS
	.set	i, 0
	.rept	EVENTS
	ldp	x11, x12, [x9, #PAGE_LANES(i)]
	add	x11, x11, x12
	str	x11, [\to, #(\offset + 8 * i)]
	.set	i, i + 1
	.endr
#else
	stp	x13, x14, [sp, #32]
	str	x15, [sp, #48]
	ldr	x12, start + NEVENT
	add	x14, x9, #PAGE_LANES(0)
	add	x15, \to, #\offset
3:	ldp	x11, x13, [x14], #PAGE_LANES(1) - PAGE_LANES(0)
	add	x11, x11, x13
	str	x11, [x15], #8
	sub	x12, x12, #1
	cbnz	x12, 3b
	ldr	x15, [sp, #48]
	ldp	x13, x14, [sp, #32]
#endif
	.endm

	.macro	push op
	begin
	take
	stp	x17, x16, [x10]
	ldr	x17, [x16, #RECORD_CALLEE]
	cbz	x17, 2f
	stp	x16, x17, [x10, #ENTRY_RECORD]
	counts	x10, ENTRY_BEGIN
	str	x10, [x9, #PAGE_TOP]
	ldr	x11, [x17]
	cbnz	x11, 1f
	str	x10, [x17]
1:	end
	threads	push, \op, x16
2:	ldr	x17, [x10]
9:	slow	CALLS_PUSH, 0
	.endm

	.macro	open op
	begin
	ldr	x12, [x16, #RECORD_SELF]
	cbz	x12, 9f
	take
	stp	x17, x16, [x10]
	stp	x16, xzr, [x10, #ENTRY_RECORD]
	counts	x10, ENTRY_BEGIN
	str	x10, [x9, #PAGE_TOP]
	end
	threads	open, \op, x16
9:	slow	CALLS_OPEN, 0
	.endm

	/* a jump is entered once */
	.macro	end_enter
	ldr	x11, [x10, #ENTRY_SP]
	tbz	x11, #0, 7f
	orr	x11, x11, #ENTRY_ENTERED
	str	x11, [x10, #ENTRY_SP]
7:	end
	.endm

	/* the call on top is of this procedure, if it has the stack pointer */
	.macro	enter op
	begin
	ldr	x10, [x9, #PAGE_TOP]
	cbz	x10, 9f
	ldr	x11, [x10, #ENTRY_SP]
	ldr	x12, [x10, #ENTRY_ACTIVE]
	and	x11, x11, #~ENTRY_TAIL
	cmp	x11, x17
	b.ne	9f
	cmp	x12, x16
	b.ne	4f
	/* one from outside has ended */
	ldr	x11, [x10, #ENTRY_HEAD]
	sub	x11, x11, x12
	cmp	x11, #8
	b.eq	9f
	end_enter
	threads	enter, \op, x16
4:	cbnz	x12, 9f
	ldr	x12, [x10, #ENTRY_RECORD]
1:	ldr	x11, [x12, #RECORD_CALLEE]
	cmp	x11, x16
	b.eq	2f
	ldr	x12, [x12, #RECORD_NEXT]
	cbnz	x12, 1b
	b	9f
2:	stp	x12, x16, [x10, #ENTRY_RECORD]
	ldr	x11, [x16]
	cbnz	x11, 3f
	str	x10, [x16]
3:	end_enter
9:	slow	CALLS_ENTER, 0
	.endm

	/* x12 is added to a sum */
	.macro	sum at:vararg
	ldr	x11, [\at]
	add	x11, x11, x12
	str	x11, [\at]
	.endm

	/* one call more, and x12 is added to what is behind them */
	.macro	one_more using, at:vararg
	ldp	x11, \using, [\at]
	add	x11, x11, #1
	add	\using, \using, x12
	stp	x11, \using, [\at]
	.endm

	/* x12: event i in a call that began with what is at \from */
	.macro	cost using, i, from:vararg
	ldp	x11, x12, [x9, #PAGE_LANES(\i)]
	ldr	\using, [\from]
	add	x12, x12, x11
	sub	x12, x12, \using
	.endm

	/* an outermost call cost so much, record \record */
	.macro	outermost record, base, offset
#if EVENTS
	cost	x13, 0, \base, #\offset
	one_more x13, \record, #RECORD_CALLS(EVENTS)
	.set	i, 1
	.rept	EVENTS - 1
	cost	x13, i, \base, #(\offset + 8 * i)
	sum	\record, #(RECORD_OUTER(EVENTS) + 8 * i)
	.set	i, i + 1
	.endr
#endif
	.endm

	/* of any number of events: x13 those of when it began, x14 the sums;
	   loses x7, x8 as well */
	.macro	each_cost
	ldr	x7, start + NEVENT
	add	x8, x9, #PAGE_LANES(0)
5:	ldp	x12, x11, [x8], #PAGE_LANES(1) - PAGE_LANES(0)
	add	x12, x12, x11
	ldr	x11, [x13], #8
	sub	x12, x12, x11
	sum	x14
	add	x14, x14, #8
	sub	x7, x7, #1
	cbnz	x7, 5b
	.endm

#if EVENTS
	/* the outermost call of a procedure, x10, has ended */
	.macro	end_outermost active, record
	str	xzr, [\active]
	outermost \record, x10, ENTRY_BEGIN
	.endm

	/* an inner one has */
	.macro	end_inner record
	mov	x12, #1
	sum	\record, #RECORD_CALLS(EVENTS)
	.set	i, 0
	.rept	EVENTS
	cost	x13, i, x10, #(ENTRY_BEGIN + 8 * i)
	sum	\record, #(RECORD_INNER + 8 * i)
	.set	i, i + 1
	.endr
	.endm

	/*
	 * A call has ended, and jumps of its callee with it. Most often the
	 * callee is that of the site's first record: what is read of it waits
	 * for no entry.
	 */
	.macro	close op
	begin
	stp	x13, x14, [sp, #32]
	ldr	x10, [x9, #PAGE_TOP]
	cbz	x10, 9f
1:	ldr	x13, [x16, #RECORD_CALLEE]
	cbz	x13, 2f
	ldp	x11, x12, [x10]
	ldr	x14, [x10, #ENTRY_ACTIVE]
	cmp	x11, x17
	ccmp	x12, x16, #0, eq
	ccmp	x14, x13, #0, eq
	b.ne	2f
	ldr	x11, [x13]
	cmp	x11, x10
	b.ne	4f
	end_outermost x13, x16
3:	sub	x10, x10, #ENTRY_SIZE(EVENTS)
	str	x10, [x9, #PAGE_TOP]
	ldp	x13, x14, [sp, #32]
	end
4:	end_inner x16
	b	3b
9:	slow	CALLS_CLOSE, 0
	/* a jump, or another record */
2:	stp	x15, x8, [sp, #48]
	ldp	x11, x12, [x10]
	ldp	x14, x15, [x10, #ENTRY_RECORD]
	cbz	x15, 9f
	and	x11, x11, #~ENTRY_ENTERED
	subs	x8, x11, x17
	ccmp	x12, x16, #0, eq
	b.eq	6f
	cmp	x8, #ENTRY_TAIL
	b.ne	9f
6:	ldr	x11, [x15]
	cmp	x11, x10
	b.ne	7f
	end_outermost x15, x14
5:	sub	x10, x10, #ENTRY_SIZE(EVENTS)
	str	x10, [x9, #PAGE_TOP]
	mov	x14, x8
	ldp	x15, x8, [sp, #48]
	cbnz	x14, 1b
	ldp	x13, x14, [sp, #32]
	end
7:	end_inner x14
	b	5b
9:	slow	CALLS_CLOSE, 1
	threads	close, \op, x16
	.endm
#else
	.macro	close op
	begin
	save_more
1:	ldr	x10, [x9, #PAGE_TOP]
	cbz	x10, 9f
	ldp	x11, x12, [x10]
	ldp	x14, x15, [x10, #ENTRY_RECORD]
	cbz	x15, 9f
	and	x11, x11, #~ENTRY_ENTERED
	subs	x8, x11, x17
	ccmp	x12, x16, #0, eq
	b.eq	3f
	cmp	x8, #ENTRY_TAIL
	b.ne	9f
3:	ldr	x11, [x15]
	cmp	x11, x10
	b.ne	4f
	str	xzr, [x15]
	mov	x15, #0
4:	stp	x7, x6, [sp, #64]
	str	x8, [sp, #80]
	ldr	x6, start + NEVENT
	add	x14, x14, #RECORD_INNER
	add	x13, x14, x6, lsl #3
	mov	x12, #1
	sum	x13
	add	x13, x13, #8
	cmp	x15, #0
	csel	x14, x14, x13, ne
	add	x13, x10, #ENTRY_BEGIN
	each_cost
	ldr	x11, start + ENTRY
	sub	x10, x10, x11
	str	x10, [x9, #PAGE_TOP]
	ldp	x7, x6, [sp, #64]
	ldr	x8, [sp, #80]
	cbnz	x8, 1b
	end_more
9:	slow	CALLS_CLOSE, 1
	threads	close, \op, x16
	.endm
#endif

	.macro	land op
	begin
	slow	CALLS_LAND, 0
	threads	land, \op, x16
	.endm

	/* a call of a procedure that calls nothing: there is one at a time */
	.macro	leaf op
	begin_short
	ldr	x10, [x16, #RECORD_SELF]
	cbz	x10, 9f
#if EVENTS == 1
	ldp	x10, x17, [x9, #PAGE_LANES(0)]
	add	x10, x10, x17
	stp	x16, x10, [x9, #PAGE_LEAF]
	ldp	x9, x10, [sp], #FRAME
	ret
#else
	stp	x11, x12, [sp, #16]
	counts	x9, PAGE_LEAF_BEGIN
	str	x16, [x9, #PAGE_LEAF]
	end
#endif
	threads	leaf, \op, x16
9:	stp	x11, x12, [sp, #16]
	slow	CALLS_LEAF, 0
	.endm

	.macro	leaf_end op
	begin
	ldp	x10, x17, [x9, #PAGE_LEAF]
	cmp	x10, x16
	b.ne	9f
#if EVENTS
	ldp	x10, x11, [x9, #PAGE_LANES(0)]
	sub	x10, x10, x17
	add	x12, x10, x11
	one_more x10, x16, #RECORD_CALLS(EVENTS)
	.set	i, 1
	.rept	EVENTS - 1
	cost	x10, i, x9, #(PAGE_LEAF_BEGIN + 8 * i)
	sum	x16, #(RECORD_OUTER(EVENTS) + 8 * i)
	.set	i, i + 1
	.endr
	str	xzr, [x9, #PAGE_LEAF]
	end
#else
	save_more
	stp	x7, x6, [sp, #64]
	ldr	x6, start + NEVENT
	add	x14, x16, #RECORD_INNER
	add	x14, x14, x6, lsl #3
	mov	x12, #1
	sum	x14
	add	x14, x14, #8
	add	x13, x9, #PAGE_LEAF_BEGIN
	each_cost
	str	xzr, [x9, #PAGE_LEAF]
	ldp	x7, x6, [sp, #64]
	end_more
#endif
	threads	leaf_end, \op, x16
9:	slow	CALLS_LEAF_END, 0
	.endm

	/* of the procedure with the word in x16: was it called from outside? */
	.macro	return op
	begin
	ldr	x10, [x9, #PAGE_TOP]
	cbz	x10, 1f
	ldr	x11, [x10, #ENTRY_HEAD]
	sub	x11, x11, x16
	cmp	x11, #8
	b.eq	9f
	ldr	x11, [x10, #ENTRY_SP]
	tbnz	x11, #0, 9f
1:	end
	threads	return, \op, x16
9:	slow	CALLS_RETURN, 0
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
leaf_add:
	leaf	add
leaf_end_add:
	leaf_end add
return_add:
	return	add
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
leaf_sub:
	leaf	sub
leaf_end_sub:
	leaf_end sub
return_sub:
	return	sub

	asks	ON_CALLS

	.section .note.GNU-stack, "", %progbits
