/*
 * multi: hand-written code: two entries into one procedure, data between
 * instructions, a jump into the middle of an instruction, jumps by a table to
 * another procedure.
 */
	.text
	.globl multi_entry, multi_second
	.type multi_entry, @function
	.type multi_second, @function
multi_entry:
	.cfi_startproc
	lea 1(%rdi), %eax
	jmp 1f
multi_second:
	lea 2(%rdi), %eax
1:	test %eax, %eax
	je 2f
	add $3, %eax
2:	ret
	.cfi_endproc
	.size multi_entry, . - multi_entry
	.size multi_second, . - multi_second

	/* a table between instructions, jumped around */
	.globl multi_pool
	.type multi_pool, @function
multi_pool:
	.cfi_startproc
	lea multi_data(%rip), %rdx
	and $3, %edi
	jmp .Lbehind
	.type multi_data, @object
multi_data:
	.long 0x06060606, 0x0f0f0f0f, 0xffffffff, 0x00000e0e
	.size multi_data, . - multi_data
.Lbehind:
	mov (%rdx,%rdi,4), %eax
	ret
	.cfi_endproc
	.size multi_pool, . - multi_pool

	/* old glibc's way not to lock in a program without threads */
	.globl multi_lock
	.type multi_lock, @function
multi_lock:
	.cfi_startproc
	cmpl $0, (%rdi)
	je 1f + 1
1:	lock
	addl $1, (%rdi)
	mov (%rdi), %eax
	ret
	.cfi_endproc
	.size multi_lock, . - multi_lock

	/* two jumps by one table, one of whose targets is another procedure */
	.globl multi_shared
	.type multi_shared, @function
	.type multi_away, @function
multi_away:
	.cfi_startproc
	mov $30, %eax
	ret
	.cfi_endproc
	.size multi_away, . - multi_away
multi_shared:
	.cfi_startproc
	cmp $2, %edi
	ja 3f
	mov %edi, %edi
	lea multi_table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rcx
	add %rdx, %rcx
	test %esi, %esi
	je 4f
	jmp *%rcx
4:	add $5, %esi
	jmp *%rcx
1:	mov $10, %eax
	ret
2:	mov $20, %eax
	ret
3:	call multi_away
	add %esi, %eax
	ret
	.cfi_endproc
	.size multi_shared, . - multi_shared
	.section .rodata
	.p2align 2
multi_table:
	.long 1b - multi_table, 2b - multi_table, multi_away - multi_table
	.section .note.GNU-stack, "", @progbits
