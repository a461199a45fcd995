/*
 * calls: open calls of a thread, see abi/calls.h and runtime/calls.c. Before
 * and behind calls, and where procedures are entered by their address, code of
 * the program calls one of these routines with
 *
 *	%r11	the site's record, or the procedure's word, of the first thread
 *	%r10	the caller's stack pointer; routines that are called directly
 *		before or behind a call (push, open, close) know it by their
 *		own, unless the lowest bit of %r11 says that it is there
 *
 * All other registers are kept, flags but that of the direction are not. What is not the rule is left to
 * runtime/calls.c. An entry is filled, and then on top: a signal's handler leaves
 * the stack as it finds it, and does not touch the next entries. Words are the
 * thread's own by the base of %gs, but for entries.
 *
 * It is assembled for some numbers of EVENTS, and for any number: 0.
 */
#include "abi/calls.h"
#include "runtime/x86_64/routines.h"

#define ON_CALLS 48 /* abi/launch_env.h */
/* what a routine has pushed when it knows the stack pointer by its own */
#define PUSHED 24

	.rept	2
	.long	push - start, open - start, enter - start
	.long	close - start, land - start, leaf - start, leaf_end - start
	.long	return - start
	.endr
	lists

	/* what is not done here; r10 is the stack pointer, rcx and rdx are
	   saved */
	.macro	slow what
	push	%rdi
	mov	$\what, %edi
	call	ask
	pop	%rdi
	end
	.endm

	/* the same where the routine knows the stack pointer by its own */
	.macro	slow_below what
	lea	-SPARE(%rsp), %rsp
	push	%r10
	lea	(PUSHED + SPARE + 8)(%rsp), %r10
	push	%rdi
	mov	$\what, %edi
	call	ask
	pop	%rdi
	pop	%r10
	lea	SPARE(%rsp), %rsp
	end
	.endm

	.macro	entry_size op
#if EVENTS
	\op	$ENTRY_SIZE(EVENTS), %rcx
#else
	\op	entry(%rip), %rcx
#endif
	.endm

	/* rcx: the next entry; to 9: there is no room */
	.macro	take below
	paged	mov %gs:start+PAGE_TOP(%rip), %rcx
	entry_size add
	paged	cmp %gs:start+PAGE_LIMIT(%rip), %rcx
	ja	9f
	.if	\below
	lea	PUSHED(%rsp), %rdx
	mov	%rdx, ENTRY_SP(%rcx)
	.else
	mov	%r10, ENTRY_SP(%rcx)
	.endif
	mov	%r11, ENTRY_HEAD(%rcx)
	mov	%r11, ENTRY_RECORD(%rcx)
	.endm

	/* rdx: what an event was counted; of few events */
	.macro	count event
	paged	mov %gs:start+PAGE_LANES(\event)(%rip), %rdx
	paged	add %gs:start+PAGE_LANES(\event)+8(%rip), %rdx
	.endm

	/* the same of any, by its number in rsi; rax: the page */
	.macro	count_any
	mov	%rsi, %rdx
	shl	$5, %rdx
	add	%rax, %rdx
	push	%rdi
	mov	%gs:PAGE_LANES(0)(%rdx), %rdi
	add	%gs:(PAGE_LANES(0) + 8)(%rdx), %rdi
	mov	%rdi, %rdx
	pop	%rdi
	.endm

	/* the loop over all events; rsi is the number */
	.macro	each
	push	%rax
	push	%rsi
	paged	lea start(%rip), %rax
	xor	%esi, %esi
4:
	.endm
	.macro	each_end
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	4b
	pop	%rsi
	pop	%rax
	.endm

	/* the events so far, into the entry in rcx; loses rdx */
	.macro	counts
#if EVENTS
	.set	i, 0
	.rept	EVENTS
	count	i
	mov	%rdx, (ENTRY_BEGIN + 8 * i)(%rcx)
	.set	i, i + 1
	.endr
#else
	each
	count_any
	mov	%rdx, ENTRY_BEGIN(%rcx,%rsi,8)
	each_end
#endif
	.endm

	.macro	push_entry below
	take	\below
	mov	%gs:RECORD_CALLEE(%r11), %rdx
	test	%rdx, %rdx
	jz	9f
	mov	%rdx, ENTRY_ACTIVE(%rcx)
	counts
	paged	mov %rcx, %gs:start+PAGE_TOP(%rip)
	mov	%gs:RECORD_CALLEE(%r11), %rdx
	cmpq	$0, %gs:(%rdx)
	jne	1f
	mov	%rcx, %gs:(%rdx)
1:	end
	.endm

	.macro	open_entry below
	cmpq	$0, %gs:RECORD_SELF(%r11)
	je	9f
	take	\below
	movq	$0, ENTRY_ACTIVE(%rcx)
	counts
	paged	mov %rcx, %gs:start+PAGE_TOP(%rip)
	end
	.endm

	/* its two forms */
	.macro	begins name, what
\name:
	test	$1, %r11b
	jnz	8f
	begin
	\name\()_entry 1
9:	slow_below \what
8:	dec	%r11
	begin
	\name\()_entry 0
9:	slow	\what
	.endm

	begins	push, CALLS_PUSH
	begins	open, CALLS_OPEN

/* the call on top is of this procedure, if it has the stack pointer */
enter:
	begin
	paged	mov %gs:start+PAGE_TOP(%rip), %rcx
	test	%rcx, %rcx
	jz	9f
	mov	ENTRY_SP(%rcx), %rdx
	and	$~ENTRY_TAIL, %rdx
	cmp	%r10, %rdx
	jne	9f
	mov	ENTRY_ACTIVE(%rcx), %rdx
	cmp	%r11, %rdx
	jne	4f
	/* one from outside has ended */
	add	$8, %rdx
	cmp	%rdx, ENTRY_HEAD(%rcx)
	je	9f
	/* a jump is entered once */
3:	testb	$ENTRY_TAIL, ENTRY_SP(%rcx)
	jz	5f
	btsq	$62, ENTRY_SP(%rcx) /* ENTRY_ENTERED */
5:	end
4:	test	%rdx, %rdx
	jnz	9f
	mov	ENTRY_RECORD(%rcx), %rdx
1:	cmp	%r11, %gs:RECORD_CALLEE(%rdx)
	je	2f
	mov	%gs:RECORD_NEXT(%rdx), %rdx
	test	%rdx, %rdx
	jnz	1b
	jmp	9f
2:	mov	%rdx, ENTRY_RECORD(%rcx)
	mov	%r11, ENTRY_ACTIVE(%rcx)
	cmpq	$0, %gs:(%r11)
	jne	3b
	mov	%rcx, %gs:(%r11)
	jmp	3b
9:	slow	CALLS_ENTER

/* of the procedure with that word: was it called from outside? */
return:
	begin
	paged	mov %gs:start+PAGE_TOP(%rip), %rcx
	test	%rcx, %rcx
	jz	1f
	lea	8(%r11), %rdx
	cmp	%rdx, ENTRY_HEAD(%rcx)
	je	9f
	testb	$ENTRY_TAIL, ENTRY_SP(%rcx)
	jnz	9f
1:	end
9:	slow	CALLS_RETURN

	/* what the call in rcx cost, to its record; loses rdx, and a record
	   that is not r11 */
	.macro	costs outermost, record
#if EVENTS
	incq	%gs:RECORD_CALLS(EVENTS)(\record)
	.set	i, 0
	.rept	EVENTS
	count	i
	sub	(ENTRY_BEGIN + 8 * i)(%rcx), %rdx
	.if	\outermost
	add	%rdx, %gs:(RECORD_OUTER(EVENTS) + 8 * i)(\record)
	.else
	add	%rdx, %gs:(RECORD_INNER + 8 * i)(\record)
	.endif
	.set	i, i + 1
	.endr
#else
	mov	nevent(%rip), %rdx
	incq	%gs:RECORD_INNER(\record,%rdx,8)
	.if	\outermost
	lea	8(\record,%rdx,8), \record
	.endif
	each
	count_any
	sub	ENTRY_BEGIN(%rcx,%rsi,8), %rdx
	add	%rdx, %gs:RECORD_INNER(\record,%rsi,8)
	each_end
#endif
	.endm

	.macro	leave_entry
	entry_size sub
	paged	mov %rcx, %gs:start+PAGE_TOP(%rip)
	.endm

/* the call on top, if it is that */
close:
	test	$1, %r11b
	jnz	8f
	begin
	paged	mov %gs:start+PAGE_TOP(%rip), %rcx
	test	%rcx, %rcx
	jz	9f
	lea	PUSHED(%rsp), %rdx
	cmp	%rdx, ENTRY_SP(%rcx)
	jne	9f
	cmpq	$0, ENTRY_ACTIVE(%rcx)
	je	9f
	cmp	%r11, ENTRY_RECORD(%rcx)
	jne	7f
	/* what is done to the record needs nothing of the entry: sums do not
	   have to wait for it */
5:	mov	%gs:RECORD_CALLEE(%r11), %rdx
	cmp	%rcx, %gs:(%rdx)
	jne	6f
	movq	$0, %gs:(%rdx)
	costs	1, %r11
	leave_entry
	end
6:	costs	0, %r11
	leave_entry
	end
	/* a site with several callees */
7:	cmp	%r11, ENTRY_HEAD(%rcx)
	jne	9f
	mov	ENTRY_RECORD(%rcx), %r11
	jmp	5b
9:	lea	-SPARE(%rsp), %rsp
	push	%r10
	lea	(PUSHED + SPARE + 8)(%rsp), %r10
	call	close_all
	pop	%r10
	lea	SPARE(%rsp), %rsp
	end
8:	dec	%r11
	begin
	call	close_all
	end

/* jumps that end with the call, and that; rcx and rdx are saved */
close_all:
	push	%rdi
	push	%r8
1:	paged	mov %gs:start+PAGE_TOP(%rip), %rcx
	test	%rcx, %rcx
	jz	9f
	mov	ENTRY_ACTIVE(%rcx), %rdx
	test	%rdx, %rdx
	jz	9f
	mov	ENTRY_SP(%rcx), %rdi
	btr	$62, %rdi /* ENTRY_ENTERED */
	sub	%r10, %rdi
	jz	2f
	cmp	$ENTRY_TAIL, %rdi
	je	3f
	jmp	9f
2:	cmp	%r11, ENTRY_HEAD(%rcx)
	jne	9f
3:	mov	ENTRY_RECORD(%rcx), %r8
	cmp	%rcx, %gs:(%rdx)
	jne	6f
	movq	$0, %gs:(%rdx)
	costs	1, %r8
5:	leave_entry
	test	%rdi, %rdi
	jnz	1b
7:	pop	%r8
	pop	%rdi
	ret
6:	costs	0, %r8
	jmp	5b
9:	mov	$CALLS_CLOSE, %edi
	call	ask
	jmp	7b

land:
	begin
	slow	CALLS_LAND

/* a call of a procedure that calls nothing: there is one at a time */
leaf:
	begin
	cmpq	$0, %gs:RECORD_SELF(%r11)
	je	9f
#if EVENTS
	.set	i, 0
	.rept	EVENTS
	count	i
	paged	mov %rdx, %gs:start+PAGE_LEAF_BEGIN+8*i(%rip)
	.set	i, i + 1
	.endr
#else
	each
	count_any
	mov	%rdx, %gs:PAGE_LEAF_BEGIN(%rax,%rsi,8)
	each_end
#endif
	paged	mov %r11, %gs:start+PAGE_LEAF(%rip)
	end
9:	slow_below CALLS_LEAF

leaf_end:
	begin
	paged	cmp %gs:start+PAGE_LEAF(%rip), %r11
	jne	9f
#if EVENTS
	incq	%gs:RECORD_CALLS(EVENTS)(%r11)
	.set	i, 0
	.rept	EVENTS
	count	i
	paged	sub %gs:start+PAGE_LEAF_BEGIN+8*i(%rip), %rdx
	add	%rdx, %gs:(RECORD_OUTER(EVENTS) + 8 * i)(%r11)
	.set	i, i + 1
	.endr
#else
	mov	nevent(%rip), %rdx
	lea	8(%r11,%rdx,8), %rcx
	incq	%gs:(RECORD_INNER - 8)(%rcx)
	each
	count_any
	sub	%gs:PAGE_LEAF_BEGIN(%rax,%rsi,8), %rdx
	add	%rdx, %gs:RECORD_INNER(%rcx,%rsi,8)
	each_end
#endif
	xor	%edx, %edx
	paged	mov %rdx, %gs:start+PAGE_LEAF(%rip)
	end
9:	slow_below CALLS_LEAF_END

	asks	ON_CALLS

	.section .note.GNU-stack, "", @progbits
