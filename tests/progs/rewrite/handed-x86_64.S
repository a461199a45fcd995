/*
 * handed: no unwind tables, no types, no sizes, as video codecs have it. The
 * helper has ways of its own; the table decodes like a procedure, and ends like
 * one, but reads registers that nobody sets.
 */
	.text
	.globl	handed_sum, handed_helper, handed_table, handed_table_end
	.hidden	handed_sum, handed_helper, handed_table, handed_table_end
	.p2align 4
handed_sum:
	push	%rbx
	push	%r12
	xor	%ebx, %ebx
	mov	%rdi, %r12
	lea	(%rdi,%rsi,8), %rdx
	cmp	%rdx, %r12
	je	2f
1:	mov	(%r12), %r11
	call	handed_helper
	add	%r11, %rbx
	add	$8, %r12
	cmp	%rdx, %r12
	jne	1b
2:	mov	%rbx, %rax
	lea	1(%rax), %rax
	pop	%r12
	pop	%rbx
	ret
	.p2align 4
handed_helper:
	lea	(%r11,%r11,2), %r11
	inc	%r11
	ret
	.p2align 4
handed_table:
	.rept	10
	mov	(%rax), %r10
	add	%r10, %rcx
	.endr
	ret
handed_table_end:
	.section .note.GNU-stack, "", @progbits
