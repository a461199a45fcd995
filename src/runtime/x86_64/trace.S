/*
 * trace: what code of a traced program calls, see abi/trace.h and
 * runtime/trace.c. All registers are kept but the one that is an argument,
 * flags but that of the direction are not.
 *
 *	flush	the thread's word of bits is full
 *	site	%r11: the site's word, of the first thread; 16(%rsp): where its
 *		jump, call or return leads
 *	frame	%r11: so far below its place behind the jump the stack pointer
 *		was when the target was pushed; 16(%rsp): the target
 *	enter	%r11: the address of a procedure, at its entry
 *	arrive	%r11: that of a place within one; %r10: the stack pointer
 *	region	%r11: the address of a procedure, at its entry, which tracing may
 *		begin with
 *	values	there is no room for values of registers; the zero flag says
 *		that there will not be any
 *
 * A handler of a signal may write, too. If it interrupts a thread where that
 * has read what it is about to change, the thread is sent back, or what it was
 * about to write is written for it (runtime/trace.c): `unfinished` says where
 * and how.
 */
#include "abi/routines.h"
#include "abi/trace.h"
#include "runtime/x86_64/routines.h"

#define ON_TRACE 56 /* abi/launch_env.h */
#define FULL 56

	.rept	2
	.long	flush - start, site - start, frame - start
	.long	enter - start, arrive - start, values - start
	.long	region - start, 0
	.endr
	lists

	/* from one place up to another: how it goes on there (abi/routines.h) */
	.macro	unfinished from, to, how, on
	.text	3
	.long	\from - start, \to - start, \how, \on - start
	.text	0
	.endm

	/* the thread's word << bits | from; loses rcx. The labels are
	   behind the word's load and behind its store */
	.macro	append bits, from, read, wrote
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rcx
\read:	shl	$\bits, %rcx
	or	\from, %rcx
	paged	mov %rcx, %gs:start+TRACE_PAGE_BITS(%rip)
\wrote:
	shr	$FULL, %rcx
	jz	98f
	call	flush
98:
	.endm

flush:
	begin
flush_again:
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rdx
flush_read:
	mov	%rdx, %rcx
	shr	$FULL, %rcx
	jz	flush_done
	paged	mov %gs:start+TRACE_PAGE_NEXT(%rip), %rcx
	paged	cmp %gs:start+TRACE_PAGE_LIMIT(%rip), %rcx
	jae	flush_ask
	mov	%rdx, (%rcx)
	/* a process that is killed in between loses bits, but writes none
	   twice */
	mov	$1, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_BITS(%rip)
flush_wrote:
	add	$8, %rcx
	paged	mov %rcx, %gs:start+TRACE_PAGE_NEXT(%rip)
flush_done:
	end
flush_ask:
	push	%rdi
	push	%r10
	lea	32(%rsp), %r10
	mov	$TRACE_FLUSH, %edi
	call	ask
	pop	%r10
	pop	%rdi
	end
	unfinished flush_read, flush_wrote, UNFINISHED_RESUMES, flush_again
	unfinished flush_wrote, flush_done, UNFINISHED_WORD, flush_done

site:
	begin
site_again:
	mov	32(%rsp), %rdx
site_read:
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	mov	%rdx, %rcx
	paged	xor %gs:start+TRACE_PAGE_KEY(%rip), %rcx
	cmp	%rcx, %gs:(%r11)
	jne	site_differs
	append	1, $0, site_same_read, site_same_wrote
	end
site_differs:
	paged	mov %gs:start+TRACE_PAGE_TARGETS(%rip), %rcx
	test	%rcx, %rcx
	jz	site_ask
	push	%rax
site_saved:
	mov	%rdx, %rax
	shr	$TARGET_SHIFT, %rax
	and	$(1 << TARGET_BITS) - 1, %eax
	cmp	%rdx, (%rcx,%rax,8)
	jne	site_new
	/* what the site's word gets */
	paged	xor %gs:start+TRACE_PAGE_KEY(%rip), %rdx
	/* an index is written as a whole: where it does not fit, the target
	   is */
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rcx
	shr	$(63 - TARGET_BITS), %rcx
	jnz	site_new
	or	$1 << TARGET_BITS, %eax
	paged	mov %gs:start+TRACE_PAGE_BITS(%rip), %rcx
	shl	$TARGET_BITS + 1, %rcx
	or	%rax, %rcx
	paged	mov %rcx, %gs:start+TRACE_PAGE_BITS(%rip)
site_wrote:
	mov	%rdx, %gs:(%r11)
site_told:
	shr	$FULL, %rcx
	jz	1f
	call	flush
1:	pop	%rax
	end
site_undo:
	pop	%rax
	jmp	site_again
site_new:
	pop	%rax
site_ask:
	push	%rdi
	push	%r10
	mov	$TRACE_SITE, %edi
	lea	32(%rsp), %r10
	call	ask
	pop	%r10
	pop	%rdi
	end
	unfinished site_read, site_same_wrote, UNFINISHED_RESUMES, site_again
	unfinished site_differs, site_saved, UNFINISHED_RESUMES, site_again
	unfinished site_saved, site_wrote, UNFINISHED_RESUMES, site_undo
	unfinished site_wrote, site_told, UNFINISHED_SITE, site_told

frame:
	begin
	push	%rdi
	push	%r10
	mov	$TRACE_FRAME, %edi
	lea	32(%rsp), %r10
	call	ask
	pop	%r10
	pop	%rdi
	end

	.macro	at_entry what
	lea	-SPARE(%rsp), %rsp
	begin
	push	%r10
	push	%rdi
	lea	(SPARE + 5 * 8)(%rsp), %r10
	mov	$\what, %edi
	call	ask
	pop	%rdi
	pop	%r10
	pop	%rdx
	pop	%rcx
	lea	SPARE(%rsp), %rsp
	ret
	.endm

enter:
	paged	cmp %gs:start+TRACE_PAGE_EXPECT(%rip), %r11
	jne	9f
	begin
	xor	%edx, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	end
9:	at_entry TRACE_ENTER

region:
	begin
	paged	mov %gs:start+TRACE_PAGE_NEXT(%rip), %rdx
	test	%rdx, %rdx
	jz	9f
	end
9:	pop	%rdx
	pop	%rcx
	at_entry TRACE_REGION

arrive:
	begin
	paged	cmp %gs:start+TRACE_PAGE_EXPECT(%rip), %r11
	jne	9f
	xor	%edx, %edx
	paged	mov %rdx, %gs:start+TRACE_PAGE_EXPECT(%rip)
	end
9:	push	%rdi
	mov	$TRACE_ARRIVE, %edi
	call	ask
	pop	%rdi
	end

values:
	begin
	push	%rdi
	push	%r10
	mov	$TRACE_VALUES, %edi
	call	ask
	pop	%r10
	pop	%rdi
	paged	mov %gs:start+TRACE_PAGE_VALUE(%rip), %rcx
	test	$1 << TRACE_VALUES_ROOM, %ecx
	end

	.macro	lose_bits
	mov	$1, %ecx
	paged	mov %rcx, %gs:start+TRACE_PAGE_BITS(%rip)
	.endm
	asks	ON_TRACE, lose_bits

	.section .note.GNU-stack, "", @progbits
