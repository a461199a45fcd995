/*
 * multi: hand-written code: two entries into one procedure, literal pools,
 * a table of data between instructions.
 */
	.text
	.globl multi_entry, multi_second
	.type multi_entry, @function
	.type multi_second, @function
multi_entry:
	.cfi_startproc
	add w0, w0, #1
	b 1f
multi_second:
	add w0, w0, #2
1:	cbz w0, 2f
	add w0, w0, #3
2:	ret
	.cfi_endproc
	.size multi_entry, . - multi_entry
	.size multi_second, . - multi_second

	.globl multi_pool
	.type multi_pool, @function
multi_pool:
	.cfi_startproc
	adr x1, multi_data
	and w0, w0, #3
	ldr w2, [x1, w0, uxtw #2]
	ldr w3, =0x12345678
	ldr x4, =0x123456789abcdef
	ldr d0, =0x4142434445464748
	b .Lbehind
	.type multi_data, @object
multi_data:
	.word 0x14000000, 0xd65f03c0, 0xffffffff, 0
	.size multi_data, . - multi_data
.Lbehind:
	add w0, w2, w3
	add x0, x0, x4
	ret
	.cfi_endproc
	.size multi_pool, . - multi_pool
	.ltorg

	.globl multi_lock
	.type multi_lock, @function
multi_lock:
	.cfi_startproc
1:	ldaxr w1, [x0]
	add w1, w1, #1
	stlxr w2, w1, [x0]
	cbnz w2, 1b
	mov w0, w1
	ret
	.cfi_endproc
	.size multi_lock, . - multi_lock
	.section .note.GNU-stack, "", %progbits
