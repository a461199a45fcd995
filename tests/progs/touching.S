/*
 * touching: every case of a switch has an unwind entry of its own, and most
 * lie back to back, as compilers leave them that place blocks one by one
 * (clang -fbasic-block-sections). Where one entry ends, a case begins.
 * Assembled for both machines.
 */
	.text
	.globl touching
	.type touching, %function
touching:
	.cfi_startproc
#ifdef __aarch64__
	str x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	cmp w0, #7
	b.hi .Lend
	adrp x1, .Ltable
	add x1, x1, :lo12:.Ltable
	ldrsw x2, [x1, w0, uxtw #2]
	add x1, x1, x2
	br x1
#else
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %edi, %ebx
	cmp $7, %edi
	ja .Lend
	lea .Ltable(%rip), %rdx
	movslq (%rdx,%rbx,4), %rax
	add %rdx, %rax
	jmp *%rax
#endif
	.cfi_endproc

	.macro a_case n
.Lcase\n:
	.cfi_startproc
	.cfi_def_cfa_offset 16
#ifdef __aarch64__
	.cfi_offset x30, -16
	add w0, w0, #\n
	b .Lend
#else
	.cfi_offset %rbx, -16
	add $\n, %ebx
	jmp .Lend
#endif
	.cfi_endproc
	.endm
	.irp n, 0, 1, 2, 3, 4, 5
	a_case \n
	.endr
	nop
	a_case 6
	nop
	a_case 7
.Lend:
	.cfi_startproc
	.cfi_def_cfa_offset 16
#ifdef __aarch64__
	.cfi_offset x30, -16
	ldr x30, [sp], #16
	.cfi_restore x30
#else
	.cfi_offset %rbx, -16
	mov %ebx, %eax
	pop %rbx
	.cfi_restore %rbx
#endif
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size touching, . - touching

	.section .rodata
	.balign 4
.Ltable:
	.long .Lcase0 - .Ltable
	.long .Lcase1 - .Ltable
	.long .Lcase2 - .Ltable
	.long .Lcase3 - .Ltable
	.long .Lcase4 - .Ltable
	.long .Lcase5 - .Ltable
	.long .Lcase6 - .Ltable
	.long .Lcase7 - .Ltable
	.section .note.GNU-stack, "", %progbits
