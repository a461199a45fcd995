/*
 * again: tables without a bound of which a first look sees too much or too
 * little, because it does not know yet where the tables of other procedures
 * start. Assembled for both machines. In pairs: behind the table of NAME lies
 * that of NAME_next, and as an entry of the former its first one would lead to
 * NAME_far, a place in NAME where a block starts anyway.
 *
 *	shrink   NAME_far is none of its cases
 *	stay     it is one
 *	byte     the index is a byte, and 256 entries would lead inside: that
 *	         looks like a bound
 *
 *	grow     by itself: its second entry leads to the middle of a block
 */
	.text

	.macro an_instruction
#ifdef __aarch64__
	mov w0, #1
#else
	mov $1, %eax
#endif
	.endm

	/* to the entry of `table` that the argument points at */
	.macro dispatch name, wide
#ifdef __aarch64__
	.if \wide
	ldr x1, [x0]
	.else
	ldrb w1, [x0]
	.endif
	adrp x2, \name\()_table
	add x2, x2, :lo12:\name\()_table
	ldrsw x1, [x2, x1, lsl #2]
	add x1, x1, x2
\name\()_jump:
	br x1
#else
	.if \wide
	mov (%rdi), %rax
	.else
	movzbl (%rdi), %eax
	.endif
	lea \name\()_table(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rdx, %rax
\name\()_jump:
	jmp *%rax
#endif
	.endm

	.macro begin name
	.globl \name
	.type \name, %function
\name:
	.cfi_startproc
	.endm

	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	/* so far behind `from`, where a block starts; nobody gets there */
	.macro place from, bytes
#ifdef __aarch64__
	.fill (\from + \bytes - .) / 4 - 1, 4, 0xd503201f
#else
	.org \from + \bytes - 1, 0x90
#endif
	ret
	.endm

	/* a pair; n: entries of the first table, m: of the second */
	.macro pair name, n, m, wide, far
	begin \name
#ifdef __aarch64__
	cbz w1, \name\()_other
#else
	test %esi, %esi
	jz \name\()_other
#endif
	dispatch \name, \wide
\name\()_case:
	an_instruction
	ret
\name\()_other:
	an_instruction
	ret
	end \name
	begin \name\()_next
	dispatch \name\()_next, 1
	place \name\()_\far, 4*\n
\name\()_next_case:
	an_instruction
	ret
	end \name\()_next
	.section .rodata
	.balign 4
\name\()_table:
	.rept \n
	.long \name\()_case - \name\()_table
	.endr
\name\()_next_table:
	.rept \m
	.long \name\()_next_case - \name\()_next_table
	.endr
	.long 0x7fffffff
	.text
	.endm

	pair shrink, 64, 2, 1, other
	pair stay, 64, 2, 1, case
	pair byte, 200, 56, 0, other

	begin grow
	dispatch grow, 1
grow_case:
	an_instruction
	ret
grow_head:
	an_instruction
grow_middle:
	an_instruction
	ret
	end grow
	.section .rodata
	.balign 4
grow_table:
	.long grow_case - grow_table
	.long grow_middle - grow_table
	.long grow_head - grow_table
	.long 0x7fffffff
	.section .note.GNU-stack, "", %progbits
