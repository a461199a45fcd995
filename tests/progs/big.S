/*
 * big: more than a megabyte of code in one procedure, with a jump table whose
 * cases lie a megabyte apart. Assembled for both machines.
 */
	.text
	.globl big_code
	.type big_code, %function
#ifdef __aarch64__
big_code:
	.cfi_startproc
	cmp w0, #3
	b.ls 1f
	ret
1:	adrp x1, .Lbig_table
	add x1, x1, :lo12:.Lbig_table
	ldrsw x2, [x1, w0, uxtw #2]
	add x1, x1, x2
	br x1
.Lbig0:
	.rept 6000
	cbz w0, 1f
	.rept 20
	sub w0, w0, #1
	.endr
1:	tbz w0, #3, 2f
	add w0, w0, w0, lsl #1
2:
	.endr
.Lbig1:
	.rept 6000
	cmp w0, #77
	b.ne 1f
	.rept 20
	eor w0, w0, #0xff
	.endr
1:
	.endr
.Lbig2:
	add w0, w0, #2
	ret
	.cfi_endproc
#else
big_code:
	.cfi_startproc
	cmp $3, %edi
	ja 9f
	mov %edi, %edi
	lea .Lbig_table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
.Lbig0:
	.rept 6000
	test %edi, %edi
	je 1f
	.rept 9
	movabs $0x123456789abcdef, %rax
	.endr
1:	test $8, %edi
	je 2f
	lea (%rdi,%rdi,2), %edi
2:
	.endr
.Lbig1:
	.rept 6000
	cmp $77, %edi
	jne 1f
	.rept 9
	movabs $0x123456789abcdef, %rcx
	.endr
1:
	.endr
.Lbig2:
	add $2, %edi
9:	mov %edi, %eax
	ret
	.cfi_endproc
#endif
	.size big_code, . - big_code
	.section .rodata
	.balign 4
.Lbig_table:
	.long .Lbig0 - .Lbig_table
	.long .Lbig1 - .Lbig_table
	.long .Lbig2 - .Lbig_table
	.long .Lbig0 - .Lbig_table
	.section .note.GNU-stack, "", %progbits
