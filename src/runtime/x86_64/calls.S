/*
 * calls: open calls of a thread, see abi/calls.h and runtime/calls.c. Before
 * and behind calls, and where procedures are entered by their address, code of
 * the program calls one of these routines with
 *
 *	%r11	the site's record, or the procedure's word, of the first thread
 *	%r10	the caller's stack pointer, before a call
 *
 * All other registers are kept, flags are not. What is not the rule is left to
 * runtime/calls.c. A signal's handler leaves the stack as it finds it: an entry
 * is taken first and then filled. Words are the thread's own by the base of
 * %gs, but for entries.
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
	.long	close - start, land - start
	.endr

	.macro	begin
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	lea	start(%rip), %rax
	add	page(%rip), %rax
	.endm

	.macro	end
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
	.endm

	/* rcx: a new entry, on top; to 9: there is no room */
	.macro	take
	mov	%gs:PAGE_TOP(%rax), %rcx
	add	entry(%rip), %rcx
	cmp	%gs:PAGE_LIMIT(%rax), %rcx
	ja	9f
	mov	%rcx, %gs:PAGE_TOP(%rax)
	mov	%r10, (%rcx)
	mov	%r11, ENTRY_HEAD(%rcx)
	mov	%r11, ENTRY_RECORD(%rcx)
	.endm

	/* the entry begins with the events so far */
	.macro	counts
	xor	%esi, %esi
3:	mov	%gs:(%rax,%rsi,8), %rdx
	add	%gs:PAGE_LEAVES(%rax,%rsi,8), %rdx
	mov	%rdx, ENTRY_BEGIN(%rcx,%rsi,8)
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	3b
	.endm

push:
	begin
	mov	%gs:RECORD_CALLEE(%r11), %rdx
	test	%rdx, %rdx
	jz	9f
	take
	mov	%rdx, ENTRY_ACTIVE(%rcx)
	cmpq	$0, %gs:(%rdx)
	jne	1f
	mov	%rcx, %gs:(%rdx)
1:	incq	%gs:RECORD_CALLS(%r11)
	counts
	end
9:	mov	$CALLS_PUSH, %edi
	jmp	ask

open:
	begin
	cmpq	$0, %gs:RECORD_SELF(%r11)
	je	9f
	take
	movq	$0, ENTRY_ACTIVE(%rcx)
	counts
	end
9:	mov	$CALLS_OPEN, %edi
	jmp	ask

/* the call on top is of this procedure, if it has the stack pointer */
enter:
	begin
	mov	%gs:PAGE_TOP(%rax), %rcx
	test	%rcx, %rcx
	jz	9f
	cmpq	$0, ENTRY_ACTIVE(%rcx)
	jne	9f
	mov	ENTRY_SP(%rcx), %rdx
	and	$~ENTRY_TAIL, %rdx
	cmp	%r10, %rdx
	jne	9f
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
3:	incq	%gs:RECORD_CALLS(%rdx)
	end
9:	mov	$CALLS_ENTER, %edi
	jmp	ask

/* jumps that end with the call, and that */
close:
	begin
1:	mov	%gs:PAGE_TOP(%rax), %rcx
	test	%rcx, %rcx
	jz	9f
	mov	ENTRY_ACTIVE(%rcx), %rdx
	test	%rdx, %rdx
	jz	9f
	mov	ENTRY_SP(%rcx), %rdi
	sub	%r10, %rdi
	jz	2f
	cmp	$ENTRY_TAIL, %rdi
	je	3f
	jmp	9f
2:	cmp	%r11, ENTRY_HEAD(%rcx)
	jne	9f
3:	mov	ENTRY_RECORD(%rcx), %r8
	xor	%esi, %esi
	cmp	%rcx, %gs:(%rdx)
	jne	6f
	movq	$0, %gs:(%rdx)
	mov	nevent(%rip), %r9
	shl	$3, %r9
	add	%r8, %r9
4:	mov	%gs:(%rax,%rsi,8), %rdx
	add	%gs:PAGE_LEAVES(%rax,%rsi,8), %rdx
	sub	ENTRY_BEGIN(%rcx,%rsi,8), %rdx
	add	%rdx, %gs:RECORD_VALUES(%r8,%rsi,8)
	add	%rdx, %gs:RECORD_VALUES(%r9,%rsi,8)
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	4b
5:	sub	entry(%rip), %rcx
	mov	%rcx, %gs:PAGE_TOP(%rax)
	test	%rdi, %rdi
	jnz	1b
	end
6:	mov	%gs:(%rax,%rsi,8), %rdx
	add	%gs:PAGE_LEAVES(%rax,%rsi,8), %rdx
	sub	ENTRY_BEGIN(%rcx,%rsi,8), %rdx
	add	%rdx, %gs:RECORD_VALUES(%r8,%rsi,8)
	inc	%rsi
	cmp	nevent(%rip), %rsi
	jb	6b
	jmp	5b
9:	mov	$CALLS_CLOSE, %edi
	jmp	ask

land:
	begin
	mov	$CALLS_LAND, %edi

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
1:	end

	.section .note.GNU-stack, "", @progbits
