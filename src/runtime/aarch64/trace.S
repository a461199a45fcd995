/*
 * trace: what code of a traced program calls, see abi/trace.h and
 * runtime/trace.c. All registers are kept but those that are arguments, flags
 * by flush alone.
 *
 *	flush	the thread's word of bits is full
 *	site	x16: the site's word, of the first thread; x17: where its jump,
 *		call or return leads
 *	frame	x16: so far below its place at the jump the stack pointer was
 *		before the call was prepared; x17: the target
 *	enter	x16: the address of a procedure, at its entry; x17: the stack
 *		pointer
 *	arrive	x16: that of a place within one; x17: the stack pointer
 *	values	there is no room for values of registers
 *	region	as enter, of a procedure that tracing may begin with
 *
 * A handler of a signal may write, too. If it interrupts a thread where that
 * has read what it is about to change, the thread is sent back, or what it was
 * about to write is written for it (runtime/trace.c): `unfinished` says where
 * and how.
 */
#include "abi/routines.h"
#include "abi/trace.h"
#include "runtime/aarch64/routines.h"

#define ON_TRACE 56 /* abi/launch_env.h */
#define FULL 56
/* what the site has for the target, behind what it saved */
#define SITE_TARGET 24

	.macro	each what, op
	\what	flush_\op
	\what	site_\op
	\what	frame_\op
	\what	enter_\op
	\what	arrive_\op
	\what	values_\op
	\what	region_\op
	.word	0
	.endm
	each	offset, add
	each	offset, sub
	each	branch, add
	each	branch, sub
	lists

	/* from one place up to another: how it goes on there (abi/routines.h) */
	.macro	unfinished from, to, how, on
	.text	3
	.long	\from - start, \to - start, \how, \on - start
	.text	0
	.endm

	.macro	flush op
	begin
flush_again_\op:
	ldr	x10, [x9, #TRACE_PAGE_BITS]
flush_read_\op:
	lsr	x11, x10, #FULL
	cbz	x11, flush_done_\op
	ldp	x11, x12, [x9, #TRACE_PAGE_NEXT]
	sub	x12, x11, x12
	tbz	x12, #63, 9f
	str	x10, [x11]
	/* a process that is killed in between loses bits, but writes none
	   twice */
	mov	x10, #1
	str	x10, [x9, #TRACE_PAGE_BITS]
flush_wrote_\op:
	add	x11, x11, #8
	str	x11, [x9, #TRACE_PAGE_NEXT]
flush_done_\op:
	end
	threads	flush, \op
9:	slow	TRACE_FLUSH, 0
	unfinished flush_read_\op, flush_wrote_\op, UNFINISHED_RESUMES, \
		flush_again_\op
	unfinished flush_wrote_\op, flush_done_\op, UNFINISHED_WORD, \
		flush_done_\op
	.endm

	/* the rest of what wrote bits, if the word in \bits is full */
	.macro	end_bits bits, op
	lsr	\bits, \bits, #FULL
	cbz	\bits, 7f
	str	x30, [sp, #-16]!
	bl	flush_\op
	ldr	x30, [sp], #16
7:	end
	.endm

	/* addresses of code may be signed, above 48 bits; x10 is what the
	   site's word is to be */
	.macro	site op
	begin
	and	x17, x17, #0xffffffffffff
	str	x13, [sp, #32]
site_again_\op:
	str	x17, [x9, #TRACE_PAGE_EXPECT]
	ldr	x10, [x9, #TRACE_PAGE_KEY]
	ldr	x11, [x16]
	eor	x10, x10, x17
	sub	x11, x11, x10
	cbnz	x11, 1f
	ldr	x10, [x9, #TRACE_PAGE_BITS]
	lsl	x10, x10, #1
	str	x10, [x9, #TRACE_PAGE_BITS]
site_same_wrote_\op:
	end_bits x10, \op
	threads	site, \op, x16
site_differs_\op:
1:	ldr	x11, [x9, #TRACE_PAGE_TARGETS]
	cbz	x11, 9f
	ubfx	x12, x17, #TARGET_SHIFT, #TARGET_BITS
	ldr	x13, [x11, x12, lsl #3]
	sub	x13, x13, x17
	cbnz	x13, 9f
	/* an index is written as a whole: where it does not fit, the target
	   is */
	ldr	x11, [x9, #TRACE_PAGE_BITS]
	lsr	x13, x11, #(63 - TARGET_BITS)
	cbnz	x13, 9f
	orr	x12, x12, #(1 << TARGET_BITS)
	orr	x11, x12, x11, lsl #(TARGET_BITS + 1)
	str	x11, [x9, #TRACE_PAGE_BITS]
site_wrote_\op:
	str	x10, [x16]
site_told_\op:
	ldr	x13, [sp, #32]
	end_bits x11, \op
9:	ldr	x13, [sp, #32]
	at_site
	slow	TRACE_SITE, 0
	unfinished site_again_\op, site_same_wrote_\op, UNFINISHED_RESUMES, \
		site_again_\op
	unfinished site_differs_\op, site_wrote_\op, UNFINISHED_RESUMES, \
		site_again_\op
	unfinished site_wrote_\op, site_told_\op, UNFINISHED_SITE, \
		site_told_\op
	.endm

	/* the target is where trace.c looks for it: x17 leads there */
	.macro	at_site
	str	x17, [sp, #(FRAME + SITE_TARGET)]
	add	x17, sp, #FRAME
	.endm

	.macro	frame op
	begin
	and	x17, x17, #0xffffffffffff
	at_site
	slow	TRACE_FRAME, 0
	threads	frame, \op
	.endm

	.macro	entered name, op, what
	begin
	ldr	x10, [x9, #TRACE_PAGE_EXPECT]
	sub	x10, x10, x16
	cbnz	x10, 9f
	str	xzr, [x9, #TRACE_PAGE_EXPECT]
	end
	threads	\name, \op
9:	slow	\what, 0
	.endm

	.macro	values op
	begin
	slow	TRACE_VALUES, 0
	threads	values, \op
	.endm

	.macro	region op
	begin
	ldr	x10, [x9, #TRACE_PAGE_NEXT]
	cbz	x10, 9f
	end
	threads	region, \op
9:	slow	TRACE_REGION, 0
	.endm

flush_add:
	flush	add
site_add:
	site	add
frame_add:
	frame	add
enter_add:
	entered	enter, add, TRACE_ENTER
arrive_add:
	entered	arrive, add, TRACE_ARRIVE
values_add:
	values	add
region_add:
	region	add
flush_sub:
	flush	sub
site_sub:
	site	sub
frame_sub:
	frame	sub
enter_sub:
	entered	enter, sub, TRACE_ENTER
arrive_sub:
	entered	arrive, sub, TRACE_ARRIVE
values_sub:
	values	sub
region_sub:
	region	sub

	.macro	lose_bits
	mov	x10, #1
	str	x10, [x9, #TRACE_PAGE_BITS]
	.endm
	asks	ON_TRACE, lose_bits

	.section .note.GNU-stack, "", %progbits
