/*
 * calls: open calls of a thread, see abi/calls.h and runtime/calls.c. Before
 * and behind calls, and where procedures are entered by their address, code of
 * the program calls one of these routines with
 *
 *	%r11	the site's record, or the procedure's word, of the first thread
 *	%r10	the caller's stack pointer, before a call
 *
 * All other registers are kept, flags are not. What is not the rule is left to
 * runtime/calls.c. An entry is filled, and then on top: a signal's handler leaves
 * the stack as it finds it, and does not touch the next entries. Words are the
 * thread's own by the base of %gs, but for entries.
 *
 * It is assembled for some numbers of EVENTS, and for any number: 0.
 */
#include "abi/calls.h"

#define ON_CALLS 48 /* abi/launch_env.h */

	.text
start:
page:	.quad	0
word:	.quad	0
nevent:	.quad	0
entry:	.quad	0
	.rept	2
	.long	push - start, open - start, enter - start
	.long	close - start, land - start, leaf - start, leaf_end - start
	.long	return - start
	.endr
	.fill	2 * CALLS_ROUTINES, 4, 0

	/*
	 * rax: the running page. Tally makes the second instruction of each
	 * routine lead there.
	 */
	.macro	begin
	push	%rax
	lea	start(%rip), %rax
	push	%rcx
	push	%rdx
	.endm

	.macro	end
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
	.endm

	.macro	save_more
	push	%rdi
	push	%r8
	.endm

	.macro	end_more
	pop	%r8
	pop	%rdi
	end
	.endm

	/* what is not done here; more: save_more was */
	.macro	slow what, more
	.ifeq	\more
	save_more
	.endif
	push	%rsi
	push	%r9
	mov	$\what, %edi
	jmp	ask
	.endm

	.macro	entry_size op
#if EVENTS
	\op	$ENTRY_SIZE(EVENTS), %rcx
#else
	\op	entry(%rip), %rcx
#endif
	.endm

	/* rcx: the next entry; to 9: there is no room */
	.macro	take
	mov	%gs:PAGE_TOP(%rax), %rcx
	entry_size add
	cmp	%gs:PAGE_LIMIT(%rax), %rcx
	ja	9f
	mov	%r10, (%rcx)
	mov	%r11, ENTRY_HEAD(%rcx)
	mov	%r11, ENTRY_RECORD(%rcx)
	.endm

	/* rdx: the count of the event with that number */
	.macro	lanes event
	push	%rdi
	mov	\event, %rdi
	shl	$5, %rdi
	add	%rax, %rdi
	mov	%gs:PAGE_LANES(0)(%rdi), %rdx
	add	%gs:(PAGE_LANES(0) + 8)(%rdi), %rdx
	pop	%rdi
	.endm

	/* the events so far; base: gs, if they go to the page */
	.macro	counts prefix, at
#if EVENTS
	.set	i, 0
	.rept	EVENTS
	mov	%gs:PAGE_LANES(i)(%rax), %rdx
	add	%gs:(PAGE_LANES(i) + 8)(%rax), %rdx
	.ifb	\prefix
	mov	%rdx, (ENTRY_BEGIN + 8 * i)(%rcx)
	.else
	mov	%rdx, %gs:(\at + 8 * i)(%rax)
	.endif
	.set	i, i + 1
	.endr
#else
	push	%rsi
	xor	%esi, %esi
3:	lanes	%rsi
	.ifb	\prefix
	mov	%rdx, ENTRY_BEGIN(%rcx,%rsi,8)
	.else
	mov	%rdx, %gs:\at(%rax,%rsi,8)
	.endif
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	3b
	pop	%rsi
#endif
	.endm

push:
	begin
	take
	mov	%gs:RECORD_CALLEE(%r11), %r10
	test	%r10, %r10
	jz	2f
	mov	%r10, ENTRY_ACTIVE(%rcx)
	counts
	mov	%rcx, %gs:PAGE_TOP(%rax)
	cmpq	$0, %gs:(%r10)
	jne	1f
	mov	%rcx, %gs:(%r10)
1:	end
2:	mov	(%rcx), %r10
9:	slow	CALLS_PUSH, 0

open:
	begin
	cmpq	$0, %gs:RECORD_SELF(%r11)
	je	9f
	take
	movq	$0, ENTRY_ACTIVE(%rcx)
	counts
	mov	%rcx, %gs:PAGE_TOP(%rax)
	end
9:	slow	CALLS_OPEN, 0

/* the call on top is of this procedure, if it has the stack pointer */
enter:
	begin
	mov	%gs:PAGE_TOP(%rax), %rcx
	test	%rcx, %rcx
	jz	9f
	mov	ENTRY_SP(%rcx), %rdx
	and	$~ENTRY_TAIL, %rdx
	cmp	%r10, %rdx
	jne	9f
	mov	ENTRY_ACTIVE(%rcx), %rdx
	cmp	%r11, %rdx
	je	4f
	test	%rdx, %rdx
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
	jne	3f
	mov	%rcx, %gs:(%r11)
	/* a jump is entered once */
3:	testb	$ENTRY_TAIL, ENTRY_SP(%rcx)
	jz	5f
	btsq	$62, ENTRY_SP(%rcx) /* ENTRY_ENTERED */
5:	end
	/* one from outside has ended */
4:	add	$8, %rdx
	cmp	%rdx, ENTRY_HEAD(%rcx)
	jne	3b
9:	slow	CALLS_ENTER, 0

/* of the procedure with that word: was it called from outside? */
return:
	begin
	mov	%gs:PAGE_TOP(%rax), %rcx
	test	%rcx, %rcx
	jz	1f
	lea	8(%r11), %rdx
	cmp	%rdx, ENTRY_HEAD(%rcx)
	je	9f
	testb	$ENTRY_TAIL, ENTRY_SP(%rcx)
	jnz	9f
1:	end
9:	slow	CALLS_RETURN, 0

/* what the call in rcx cost, record r8 */
	.macro	costs outermost
#if EVENTS
	incq	%gs:RECORD_CALLS(EVENTS)(%r8)
	.set	i, 0
	.rept	EVENTS
	mov	%gs:PAGE_LANES(i)(%rax), %rdx
	add	%gs:(PAGE_LANES(i) + 8)(%rax), %rdx
	sub	(ENTRY_BEGIN + 8 * i)(%rcx), %rdx
	.if	\outermost
	add	%rdx, %gs:(RECORD_OUTER(EVENTS) + 8 * i)(%r8)
	.else
	add	%rdx, %gs:(RECORD_INNER + 8 * i)(%r8)
	.endif
	.set	i, i + 1
	.endr
#else
	push	%rsi
	mov	nevent(%rip), %rsi
	incq	%gs:RECORD_INNER(%r8,%rsi,8)
	.if	\outermost
	lea	8(%r8,%rsi,8), %r8
	.endif
	xor	%esi, %esi
4:	lanes	%rsi
	sub	ENTRY_BEGIN(%rcx,%rsi,8), %rdx
	add	%rdx, %gs:RECORD_INNER(%r8,%rsi,8)
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	4b
	pop	%rsi
#endif
	.endm

/* jumps that end with the call, and that */
close:
	begin
	save_more
1:	mov	%gs:PAGE_TOP(%rax), %rcx
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
	costs	1
5:	entry_size sub
	mov	%rcx, %gs:PAGE_TOP(%rax)
	test	%rdi, %rdi
	jnz	1b
	end_more
6:	costs	0
	jmp	5b
9:	slow	CALLS_CLOSE, 1

land:
	begin
	slow	CALLS_LAND, 0

/* a call of a procedure that calls nothing: there is one at a time */
leaf:
	begin
	cmpq	$0, %gs:RECORD_SELF(%r11)
	je	9f
	counts	gs, PAGE_LEAF_BEGIN
	mov	%r11, %gs:PAGE_LEAF(%rax)
	end
9:	slow	CALLS_LEAF, 0

leaf_end:
	begin
	cmp	%r11, %gs:PAGE_LEAF(%rax)
	jne	9f
#if EVENTS
	incq	%gs:RECORD_CALLS(EVENTS)(%r11)
	.set	i, 0
	.rept	EVENTS
	mov	%gs:PAGE_LANES(i)(%rax), %rdx
	add	%gs:(PAGE_LANES(i) + 8)(%rax), %rdx
	sub	%gs:(PAGE_LEAF_BEGIN + 8 * i)(%rax), %rdx
	add	%rdx, %gs:(RECORD_OUTER(EVENTS) + 8 * i)(%r11)
	.set	i, i + 1
	.endr
#else
	push	%rsi
	mov	nevent(%rip), %rcx
	lea	8(%r11,%rcx,8), %rsi
	incq	%gs:(RECORD_INNER - 8)(%rsi)
	xor	%ecx, %ecx
4:	lanes	%rcx
	sub	%gs:PAGE_LEAF_BEGIN(%rax,%rcx,8), %rdx
	add	%rdx, %gs:RECORD_INNER(%rsi,%rcx,8)
	inc	%rcx
	cmp	nevent(%rip), %rcx
	jb	4b
	pop	%rsi
#endif
	movq	$0, %gs:PAGE_LEAF(%rax)
	end
9:	slow	CALLS_LEAF_END, 0

/* on_calls(edi, r11, r10, rax, launch_env), if there is one */
ask:
	lea	start(%rip), %rcx
	add	word(%rip), %rcx
	mov	(%rcx), %r8
	test	%r8, %r8
	jz	1f
	mov	ON_CALLS(%r8), %r9
	test	%r9, %r9
	jz	1f
	push	%rbp
	mov	%rsp, %rbp
	push	%r10
	push	%r11
	mov	%r11, %rsi
	mov	%r10, %rdx
	mov	%rax, %rcx
	and	$-16, %rsp
	cld
	call	*%r9
	lea	-16(%rbp), %rsp
	pop	%r11
	pop	%r10
	pop	%rbp
1:	pop	%r9
	pop	%rsi
	end_more

	.section .note.GNU-stack, "", @progbits
