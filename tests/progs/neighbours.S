/*
 * neighbours: a table of bytes whose index nothing bounds, in front of
 * procedures that have nothing to do with it: one is called, one known by its
 * address, one only by its name. Behind the table's four entries lie other
 * bytes, which as entries would lead to the middle of NEXT, one of those
 * procedures. Assembled for both machines.
 */
#ifdef __aarch64__
#define ENTRY(to) (.Lbytes_##to - .Lbytes_0) / 4
#else
#define ENTRY(to) .Lbytes_##to - .Lbytes_0
#endif
#define FOREIGN(to) ENTRY(to)

	/* int bytes(const unsigned char *) */
	.text
	.globl bytes
	.type bytes, %function
bytes:
	.cfi_startproc
#ifdef __aarch64__
	ldrb w1, [x0]
	adrp x2, .Lbytes
	add x2, x2, :lo12:.Lbytes
	ldrb w1, [x2, x1]
	adr x2, .Lbytes_0
	add x2, x2, w1, uxtb #2
	br x2
#else
	movzbl (%rdi), %eax
	lea .Lbytes(%rip), %rdx
	movzbl (%rdx,%rax), %eax
	lea .Lbytes_0(%rip), %rdx
	add %rdx, %rax
	jmp *%rax
#endif
	.macro a_case n
.Lbytes_\n:
#ifdef __aarch64__
	mov w0, #\n + 10
#else
	mov $\n + 10, %eax
#endif
	ret
	.endm
	.irp n, 0, 1, 2, 3
	a_case \n
	.endr
	.cfi_endproc
	.size bytes, . - bytes

	/* int NAME(int) */
	.globl called, pointed, named
	.type called, %function
	.type pointed, %function
	.type named, %function
	.macro neighbour name
\name:
	.cfi_startproc
#ifdef __aarch64__
	add w0, w0, #1
.Lbytes_\name:
	eor w0, w0, #4
#else
	lea 1(%rdi), %eax
.Lbytes_\name:
	xor $4, %eax
#endif
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm
	neighbour called
	neighbour pointed
	neighbour named

	/* int neighbours(int) */
	.globl neighbours
	.type neighbours, %function
neighbours:
	.cfi_startproc
#ifdef __aarch64__
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	and x0, x0, #3
	adrp x1, .Lnumbers
	add x1, x1, :lo12:.Lnumbers
	add x0, x0, x1
	bl bytes
	bl called
	adrp x1, .Lpointer
	ldr x1, [x1, #:lo12:.Lpointer]
	blr x1
	ldp x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
#else
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	and $3, %edi
	lea .Lnumbers(%rip), %rax
	add %rax, %rdi
	call bytes
	mov %eax, %edi
	call called
	mov %eax, %edi
	call *.Lpointer(%rip)
	pop %rbx
	.cfi_restore %rbx
#endif
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size neighbours, . - neighbours

	.section .rodata
.Lnumbers:
	.byte 0, 1, 2, 3
.Lbytes:
	.byte ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3)
	.byte FOREIGN(NEXT), FOREIGN(NEXT), FOREIGN(NEXT), FOREIGN(NEXT)
	.byte 255, 255, 255, 255
	.section .data.rel.ro, "aw"
	.balign 8
.Lpointer:
	.quad pointed
	.section .note.GNU-stack, "", %progbits
