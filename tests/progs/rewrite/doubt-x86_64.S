/*
 * doubt: a label in the middle of a procedure, close behind its entry, that
 * only a constant in another procedure leads to, by way of a return.
 */
	.text
	.globl	doubt_entry, doubt_jump
	.type	doubt_entry, @function
	.type	doubt_jump, @function
	.p2align 4
doubt_entry:
	.cfi_startproc
	xor	%eax, %eax
	inc	%eax
doubt_label:
	add	$41, %eax
	ret
	.cfi_endproc
	.size	doubt_entry, . - doubt_entry
	.p2align 4
doubt_jump:
	.cfi_startproc
	mov	$doubt_label, %ecx
	push	%rcx
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	doubt_jump, . - doubt_jump
	.section .note.GNU-stack, "", @progbits
