/*
 * odd: x86-64 as no compiler writes it today: code that asks for its own
 * address, counting branches, prefixes that are jumped over, procedures
 * shorter than a jump without padding, values below the stack pointer, flags
 * that live across blocks, data between instructions.
 */
	.text
	.macro fn name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro end_fn name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/* long odd_get_pc(void): call .+5 */
	.p2align 4
	fn	odd_get_pc
	call	1f
	.cfi_adjust_cfa_offset 8
1:	pop	%rax
	.cfi_adjust_cfa_offset -8
	add	$odd_word - 1b, %rax
	mov	(%rax), %eax
	ret
	end_fn	odd_get_pc

	/* long odd_twice(long n): the same, to come back there */
	.p2align 4
	fn	odd_twice
	mov	%rdi, %rax
	call	1f
1:	lea	5(%rax), %rax
	ret
	end_fn	odd_twice

	/* long odd_handler(long n): a handler, to which only its address leads,
	   goes on where others jump to, as OCaml's do */
	.p2align 4
	fn	odd_handler
	lea	1f(%rip), %r11
	push	%r11
	.cfi_adjust_cfa_offset 8
	mov	%rsp, %r10
	test	$1, %dil
	jz	3f
	call	odd_raise
	ud2
	.cfi_adjust_cfa_offset -8
1:	add	$5, %rdi
2:	lea	(%rdi,%rdi,2), %rax
	lea	1(%rax), %rax
	ret
3:	pop	%r11
	jmp	2b
	end_fn	odd_handler
	fn	odd_raise
	mov	%r10, %rsp
	ret
	end_fn	odd_raise

	/* long odd_thunk(void): by a procedure that tells */
	.p2align 4
	fn	odd_thunk
	call	odd_tell
1:	add	$odd_word - 1b, %rdx
	mov	(%rdx), %eax
	ret
	end_fn	odd_thunk
	fn	odd_tell
	mov	(%rsp), %rdx
	ret
	end_fn	odd_tell

	/* long odd_retpoline(long (*f)(long), long n) */
	.p2align 4
	fn	odd_retpoline
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	2f
1:	pause
	lfence
	jmp	1b
2:	mov	%rax, (%rsp)
	ret
	end_fn	odd_retpoline

	/* long odd_counts(unsigned long n) */
	.p2align 4
	fn	odd_counts
	mov	%rdi, %rcx
	xor	%eax, %eax
	jrcxz	9f
1:	add	$3, %rax
	loop	1b
	mov	%rdi, %rcx
2:	add	$1, %rax
	cmp	%rax, %rax
	loope	2b
	mov	%rdi, %rcx
3:	add	$1, %rax
	cmp	$20, %rax
	loopne	3b
9:	ret
	end_fn	odd_counts

	/* long odd_reach(long n): counting branches that just reach over jumps
	   that get longer, for they leave the procedure; one has a hint */
	.p2align 4
	fn	odd_reach
	mov	%rdi, %rcx
	mov	$1, %eax
	jrcxz	9f
1:	add	$1, %rax
	jecxz	9f
	.irp	k, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64
	cmp	$\k, %ecx
	je	.Lodd_reached
	.endr
	cmp	$-1, %ecx
	je,pn	.Lodd_reached
	add	%rcx, %rax
	loop	1b
9:	ret
	end_fn	odd_reach
	fn	odd_reached
.Lodd_reached:
	add	$1000, %rax
	ret
	end_fn	odd_reached

	/* long odd_narrow(unsigned long n): jecxz looks at half of it */
	.p2align 4
	fn	odd_narrow
	mov	%rdi, %rcx
	mov	$1, %eax
	jecxz	1f
	mov	$2, %eax
1:	ret
	end_fn	odd_narrow

	/* long odd_overlap(long *p, long skip): over a lock prefix, or not */
	.p2align 4
	fn	odd_overlap
	test	%rsi, %rsi
	jne	1f + 1
1:	lock addq $2, (%rdi)
	mov	(%rdi), %rax
	ret
	end_fn	odd_overlap

	/* long odd_skips(long n): the same in a loop, with an address that is
	   relative, in the middle of a block, and with more prefixes */
	.p2align 4
	fn	odd_skips
	mov	%edi, %eax
1:	test	$1, %edi
	je	2f + 1
	lea	3(%rax), %rax
2:	lock addl $5, odd_shared_word(%rip)
	test	$2, %edi
	jne	3f + 1
3:	lock xaddq %rax, odd_shared_word(%rip)
	sub	$1, %edi
	jne	1b
	test	%eax, %eax
	je	4f + 1
4:	.byte 0xf0 /* lock */
	cmpxchg %cx, odd_shared_word(%rip)
	add	odd_shared_word(%rip), %rax
	ret
	end_fn	odd_skips

	/* void odd_strings(char *to, const char *from, unsigned long n) */
	.p2align 4
	fn	odd_strings
	mov	%rdx, %rcx
	rep movsb
	mov	$'-', %eax
	mov	$3, %ecx
	rep stosb
	lea	-1(%rdi), %rdi
	mov	$4, %ecx
	std
	mov	$'d', %eax
	repne scasb
	cld
	movb	$'!', (%rdi)
	ret
	end_fn	odd_strings

	/* long odd_zone(long n): a loop with values below %rsp, all scratch
	   registers live, and flags that outlive a block */
	.p2align 4
	fn	odd_zone
	mov	%rdi, -8(%rsp)
	movq	$0, -128(%rsp)
	movq	$7, -64(%rsp)
	mov	$1, %eax
	mov	$2, %ecx
	mov	$3, %edx
	mov	$4, %esi
	mov	$5, %r8d
	mov	$6, %r9d
	mov	$7, %r10d
	mov	$8, %r11d
1:	cmpq	$50, -8(%rsp)
	ja	2f
	je	3f
	add	%rcx, -128(%rsp)
	jmp	4f
2:	add	%rdx, -128(%rsp)
	jc	3f
	jmp	4f
3:	add	%r11, -128(%rsp)
4:	add	%rax, %rcx
	add	%rcx, %rdx
	xor	%rsi, %rdx
	add	%r8, %rsi
	sub	%r9, %r8
	lea	(%r9,%r10), %r9
	xor	%r11, %r10
	add	%rdi, %r11
	decq	-8(%rsp)
	jns	1b
	mov	-128(%rsp), %rax
	add	-64(%rsp), %rax
	ret
	end_fn	odd_zone

	/* long odd_notrack(unsigned n) */
	.p2align 4
	fn	odd_notrack
	cmp	$3, %edi
	ja	9f
	mov	%edi, %edi
	lea	odd_table(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx
	add	%rdx, %rax
	notrack jmp *%rax
10:	mov	$100, %eax
	ret
11:	mov	$200, %eax
	ret
12:	mov	$300, %eax
	ret
9:	mov	$-1, %rax
	ret
	end_fn	odd_notrack

	/* void odd_add(unsigned long *to, const unsigned long *from,
	   unsigned n): a carry goes around the loop */
	.p2align 4
	fn	odd_add
	mov	%edx, %ecx
	clc
1:	mov	(%rsi), %rax
	adc	%rax, (%rdi)
	lea	8(%rsi), %rsi
	lea	8(%rdi), %rdi
	dec	%ecx
	jnz	1b
	ret
	end_fn	odd_add

	/* procedures of one to four bytes, one behind the other */
	.p2align 4
	.globl	odd_first
odd_first:
	.cfi_startproc
	mov	%edi, %eax
	ret
	.cfi_endproc
odd_second:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
odd_third:
	.cfi_startproc
	mov	$7, %al
	ret
	.cfi_endproc
odd_fourth:
	.cfi_startproc
	ret
	.cfi_endproc
odd_fifth:
	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
odd_sixth:
	.cfi_startproc
	mov	$9, %eax
	ret
	.cfi_endproc

	/* long odd_entry(long n), long odd_inner(long n): one behind which
	   the other begins */
	.p2align 4
	fn	odd_entry
	add	$10, %rdi
	.globl	odd_inner
	.type	odd_inner, @function
odd_inner:
	lea	100(%rdi), %rax
	ret
	end_fn	odd_entry

	/* long odd_data(void): constants between code */
	.p2align 4
	fn	odd_data
	mov	2f(%rip), %eax
	add	2f + 4(%rip), %eax
	jmp	3f
	.p2align 2
2:	.long	40, 2
3:	ret
	end_fn	odd_data

	/* long odd_shared(void): a constant out of the instruction that has
	   it, where somebody arrives */
	.p2align 4
	fn	odd_shared
4:	movabs	$0x1234567890, %rax
	mov	4b + 2(%rip), %rcx
	sub	%rcx, %rax
	lea	42(%rax), %rax
	ret
	end_fn	odd_shared

	/* long odd_rtm(void) */
	.p2align 4
	fn	odd_rtm
	xbegin	1f
	xend
1:	mov	$1, %eax
	ret
	end_fn	odd_rtm

	.data
	.p2align 3
odd_shared_word:
	.quad	0
	.section .rodata
odd_word:
	.long	42
	.p2align 2
odd_table:
	.long	10b - odd_table, 11b - odd_table, 12b - odd_table
	.long	10b - odd_table

	.globl	odd_ntiny, odd_tiny
odd_ntiny:
	.long	6
	.section .data.rel.ro, "aw"
	.p2align 3
odd_tiny:
	.quad	odd_first, odd_second, odd_third, odd_fourth, odd_fifth
	.quad	odd_sixth
	.section .note.GNU-stack, "", @progbits
