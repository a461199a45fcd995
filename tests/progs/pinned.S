/*
 * pinned: what runtimes that know the addresses of code keep of it: tables of
 * return addresses (RETURNS), or data before every piece of code that a
 * pointer leads to (INFOS). Enough to be told from a few by chance.
 */
#if defined(__aarch64__)
#define CALL bl
#define RETURN mov w0, #7; ret
#else
#define CALL call
#define RETURN mov $7, %eax; ret
#endif
	.text
	.globl called
	.type called, %function
called:	RETURN
	.globl calls
	.type calls, %function
calls:
#ifdef RETURNS
	.rept 300
	CALL called
1:	.pushsection .data.rel.local, "aw"
	.balign 8
	.quad 1b
	.short 16, 0, 0, 0
	.popsection
	.endr
#endif
#ifdef INFOS
	.rept 300
	.balign 8
	.long 2, 1, 21, 0
1:	RETURN
	.pushsection .data.rel.local, "aw"
	.balign 8
	.quad 1b, 0
	.popsection
	.endr
#endif
	RETURN
	.section .note.GNU-stack, "", %progbits
