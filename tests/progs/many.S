/*
 * many: a table with very many entries, which count from the first case. The
 * last CASES of its ENTRIES lead to a case each, those before to the first
 * one. Assembled for both machines.
 */
	.text
	.globl many
	.type many, %function
many:
	.cfi_startproc
#ifdef __aarch64__
	mov w1, #((ENTRIES - 1) & 0xffff)
	movk w1, #((ENTRIES - 1) >> 16), lsl #16
	cmp w0, w1
	b.hi 1f
	adrp x1, .Ltable
	add x1, x1, :lo12:.Ltable
	ldr w2, [x1, w0, uxtw #2]
	adr x1, .Lfirst
	add x1, x1, x2
	br x1
1:	ret
#else
	mov %edi, %eax
	cmp $(ENTRIES - 1), %eax
	ja 1f
	lea .Ltable(%rip), %rdx
	mov (%rdx,%rax,4), %eax
	lea .Lfirst(%rip), %rdx
	add %rdx, %rax
	jmp *%rax
1:	ret
#endif
	.balign 8
.Lfirst:
	.set n, 0
	.rept CASES	/* of eight bytes */
#ifdef __aarch64__
	mov w0, #(n & 0xffff)
	ret
#else
	mov $n, %eax
	ret
	int3
	int3
#endif
	.set n, n + 1
	.endr
	.cfi_endproc
	.size many, . - many

	.section .rodata
	.balign 4
.Ltable:
	.fill ENTRIES - CASES, 4, 0
	.set n, 0
	.rept CASES
	.long 8 * n
	.set n, n + 1
	.endr
	.section .note.GNU-stack, "", %progbits
