/*
 * decode() and lift() of x86-64, encoding by encoding.
 *
 * A table of instructions of all classes, each with what decode() must say
 * and the micro-operations that lift() must give, both written as text:
 *
 *	kind length ->target ref:address/size imm: pad condition atomic vector
 *	r: registers read     mr: bytes read     fr: flags read
 *	w: registers written  mw: bytes written  fw: flags certainly written
 *
 *	operation.width/size?condition destination=operands
 *
 * All instructions lie at 0x1000. scan() is compared with decode() here and,
 * on many more bytes, in x64_agree.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "isa/isa.h"
#include "isa/uop.h"

enum { SIZE = 512, ADDR = 0x1000 };

struct expected {
	const char *text, *hex, *insn, *uops;
};

static const struct expected table[] = {
	{"nop", "90",
	 "seq 1 pad",
	 ""},
	{"nopw %cs:0x0(%rax,%rax,1)", "2e 66 0f 1f 04 00",
	 "seq 6 pad",
	 ""},
	{"xchg %ax,%ax", "66 90",
	 "seq 2 pad",
	 ""},
	{"nopl 0x10(%rip)", "0f 1f 05 10 00 00 00",
	 "seq 7 hint:1017/0 pad",
	 ""},
	{"pause", "f3 90",
	 "seq 2",
	 ""},
	{"int3", "cc",
	 "trap 1 pad",
	 ""},
	{"lea 0x0(%rsi,%riz,1),%rsi", "48 8d b4 26 00 00 00 00",
	 "seq 8 pad r:rsi w:rsi",
	 "copy rsi=rsi"},
	{"endbr64", "f3 0f 1e fa",
	 "seq 4",
	 ""},
	{"jmp .+0x20", "eb 1e",
	 "jump 2 ->1020",
	 ""},
	{"jmp .+0x2000", "e9 fb 1f 00 00",
	 "jump 5 ->3000",
	 ""},
	{"call .+0x100", "e8 fb 00 00 00",
	 "call 5 ->1100 r:rsp w:rsp mw:8",
	 ""},
	{"ret", "c3",
	 "ret 1 r:rsp w:rsp mr:8",
	 "load/8 t0=rsp; add rsp=rsp,#8; jump t0"},
	{"ret $16", "c2 10 00",
	 "ret 3 r:rsp w:rsp mr:8",
	 "load/8 t0=rsp; add rsp=rsp,#18; jump t0"},
	{"lretq", "48 cb",
	 "ret 2 r:rsp w:rsp mr:16",
	 "other rsp"},
	{"iretq", "48 cf",
	 "ret 2 r:rsp w:rsp mr:40 fw:NZCVPAD",
	 "other rsp; other flags"},
	{"je .+4", "74 02",
	 "cond 2 ->1004 eq fr:Z",
	 "branch?eq flags"},
	{"jne .+0x2000", "0f 85 fa 1f 00 00",
	 "cond 6 ->3000 ne fr:Z",
	 "branch?ne flags"},
	{"jb .+4", "72 02",
	 "cond 2 ->1004 ult fr:C",
	 "branch?ult flags"},
	{"jae .+4", "73 02",
	 "cond 2 ->1004 uge fr:C",
	 "branch?uge flags"},
	{"jbe .+4", "76 02",
	 "cond 2 ->1004 ule fr:ZC",
	 "branch?ule flags"},
	{"ja .+4", "77 02",
	 "cond 2 ->1004 ugt fr:ZC",
	 "branch?ugt flags"},
	{"jl .+4", "7c 02",
	 "cond 2 ->1004 slt fr:NV",
	 "branch?slt flags"},
	{"jge .+4", "7d 02",
	 "cond 2 ->1004 sge fr:NV",
	 "branch?sge flags"},
	{"jle .+4", "7e 02",
	 "cond 2 ->1004 sle fr:NZV",
	 "branch?sle flags"},
	{"jg .+4", "7f 02",
	 "cond 2 ->1004 sgt fr:NZV",
	 "branch?sgt flags"},
	{"js .+4", "78 02",
	 "cond 2 ->1004 neg fr:N",
	 "branch?neg flags"},
	{"jns .+4", "79 02",
	 "cond 2 ->1004 pos fr:N",
	 "branch?pos flags"},
	{"jo .+4", "70 02",
	 "cond 2 ->1004 other fr:V",
	 "branch?other flags"},
	{"jp .+4", "7a 02",
	 "cond 2 ->1004 other fr:P",
	 "branch?other flags"},
	{"jrcxz .+4", "e3 02",
	 "cond 2 ->1004 other r:rcx",
	 "branch?other flags"},
	{"loop .+4", "e2 02",
	 "cond 2 ->1004 other r:rcx w:rcx",
	 "other rcx; branch?other flags"},
	{"loopne .+4", "e0 02",
	 "cond 2 ->1004 other r:rcx w:rcx fr:Z",
	 "other rcx; branch?other flags"},
	{"xbegin .+0x100", "c7 f8 fa 00 00 00",
	 "cond 6 ->1100 other r:rax w:rax",
	 "other rax; branch?other flags"},
	{"jmp *%rax", "ff e0",
	 "ijump 2 r:rax",
	 "jump rax"},
	{"notrack jmp *%rdx", "3e ff e2",
	 "ijump 3 r:rdx",
	 "jump rdx"},
	{"jmp *0x400000(,%rax,8)", "ff 24 c5 00 00 40 00",
	 "ijump 7 imm:400000 r:rax mr:8",
	 "shl t0=rax,#3; add t0=t0,#400000; load/8 t0=t0; jump t0"},
	{"jmp *0x100(%rip)", "ff 25 00 01 00 00",
	 "ijump 6 load:1106/8 mr:8",
	 "copy t0=#1106; load/8 t0=t0; jump t0"},
	{"jmp *%fs:0x10", "64 ff 24 25 10 00 00 00",
	 "ijump 8 mr:8",
	 "other t0; jump t0"},
	{"call *%rbx", "ff d3",
	 "icall 2 r:rbx,rsp w:rsp mw:8",
	 "jump rbx"},
	{"call *0x18(%rsp)", "ff 54 24 18",
	 "icall 4 r:rsp w:rsp mr:8 mw:8",
	 "add t0=rsp,#18; load/8 t0=t0; jump t0"},
	{"ljmp *(%rax)", "ff 28",
	 "ijump 2 r:rax mr:6",
	 "other t0; jump t0"},
	{"ud2", "0f 0b",
	 "trap 2",
	 ""},
	{"hlt", "f4",
	 "trap 1",
	 ""},
	{"syscall", "0f 05",
	 "syscall 2 r:rax,rdx,rsp,rsi,rdi,r8,r9,r10 w:rax,rcx,r11 mr:? mw:? "
	 "fr:NZCVPAD",
	 "clobber; other rax; other rcx; other r11"},
	{"sysenter", "0f 34",
	 "syscall 2 r:rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,"
	 "r14,r15 w:rax,rcx,rdx,rbp,r8,r9,r10,r11 mr:? mw:? fr:NZCVPAD",
	 "clobber; other rax; other rcx; other rdx; other rbp; other r8; "
	 "other r9; other r10; other r11"},
	{"int $0x80", "cd 80",
	 "syscall 2 r:rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,"
	 "r14,r15 w:rax,r8,r9,r10,r11 mr:? mw:? fr:NZCVPAD",
	 "clobber; other rax; other r8; other r9; other r10; other r11"},
	{"int $0x29", "cd 29",
	 "trap 2",
	 ""},
	{"vmcall", "0f 01 c1",
	 "unknown 3 vector r:rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,"
	 "r12,r13,r14,r15 mr:? mw:? fr:NZCVPAD",
	 "clobber"},
	{"enclu", "0f 01 d7",
	 "unknown 3 vector r:rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,"
	 "r12,r13,r14,r15 mr:? mw:? fr:NZCVPAD",
	 "clobber"},
	{"mov %rcx,%rax", "48 89 c8",
	 "seq 3 r:rcx w:rax",
	 "copy rax=rcx"},
	{"mov %ecx,%eax", "89 c8",
	 "seq 2 r:rcx w:rax",
	 "copy.32 rax=rcx"},
	{"mov %esi,%esi", "89 f6",
	 "seq 2 r:rsi w:rsi",
	 "copy.32 rsi=rsi"},
	{"mov %cx,%ax", "66 89 c8",
	 "seq 3 r:rax,rcx w:rax",
	 "copy.16 t2=rcx; and t3=rax,#ffffffffffff0000; or rax=t3,t2"},
	{"mov %cl,%al", "88 c8",
	 "seq 2 r:rax,rcx w:rax",
	 "copy.8 t2=rcx; and t3=rax,#ffffffffffffff00; or rax=t3,t2"},
	{"mov %ah,%cl", "88 e1",
	 "seq 2 r:rax,rcx w:rcx",
	 "shr.16 t2=rax,#8; copy.8 t2=t2; and t3=rcx,#ffffffffffffff00; or "
	 "rcx=t3,t2"},
	{"mov %cl,%ah", "88 cc",
	 "seq 2 r:rax,rcx w:rax",
	 "copy.8 t2=rcx; shl t2=t2,#8; and t3=rax,#ffffffffffff00ff; or "
	 "rax=t3,t2"},
	{"add %bl,%bh", "00 df",
	 "seq 2 r:rbx w:rbx fw:NZCVPA",
	 "shr.16 t1=rbx,#8; other flags; add.8 t2=t1,rbx; shl t2=t2,#8; "
	 "and t3=rbx,#ffffffffffff00ff; or rbx=t3,t2"},
	{"mov $5,%al", "b0 05",
	 "seq 2 r:rax w:rax",
	 "copy.8 t2=#5; and t3=rax,#ffffffffffffff00; or rax=t3,t2"},
	{"mov $-1,%eax", "b8 ff ff ff ff",
	 "seq 5 imm:ffffffff w:rax",
	 "copy.32 rax=#ffffffff"},
	{"mov $-1,%rax", "48 c7 c0 ff ff ff ff",
	 "seq 7 imm:ffffffffffffffff w:rax",
	 "copy rax=#ffffffffffffffff"},
	{"movabs $0x1122334455667788,%rax", "48 b8 88 77 66 55 44 33 22 11",
	 "seq 10 imm:1122334455667788 w:rax",
	 "copy rax=#1122334455667788"},
	{"movabs 0x1122334455667788,%eax", "a1 88 77 66 55 44 33 22 11",
	 "seq 9 imm:1122334455667788 w:rax mr:4",
	 "copy t0=#1122334455667788; load/4 rax=t0"},
	{"mov 0x100(%rip),%rax", "48 8b 05 00 01 00 00",
	 "seq 7 load:1107/8 w:rax mr:8",
	 "copy t0=#1107; load/8 rax=t0"},
	{"mov %eax,0x100(%rip)", "89 05 00 01 00 00",
	 "seq 6 store:1106/4 r:rax mw:4",
	 "copy t0=#1106; store/4 t0=rax"},
	{"movl $0x401000,0x100(%rip)", "c7 05 00 01 00 00 00 10 40 00",
	 "seq 10 store:110a/4 imm:401000 mw:4",
	 "copy t0=#110a; store/4 t0=#401000"},
	{"movq $0x401000,8(%rsp)", "48 c7 44 24 08 00 10 40 00",
	 "seq 9 imm:401000 r:rsp mw:8",
	 "add t0=rsp,#8; store/8 t0=#401000"},
	{"mov 0x401000,%eax", "8b 04 25 00 10 40 00",
	 "seq 7 imm:401000 w:rax mr:4",
	 "copy t0=#401000; load/4 rax=t0"},
	{"mov %fs:0x28,%rax", "64 48 8b 04 25 28 00 00 00",
	 "seq 9 w:rax mr:8",
	 "other rax"},
	{"mov %rax,%gs:(%rdx)", "65 48 89 02",
	 "seq 4 r:rax,rdx mw:8",
	 "store/8 ?=rax"},
	{"mov (%eax),%rcx", "67 48 8b 08",
	 "seq 4 r:rax w:rcx mr:8",
	 "other rcx"},
	{"mov %cx,-2(%rbx,%rdx,4)", "66 89 4c 93 fe",
	 "seq 5 r:rcx,rdx,rbx mw:2",
	 "shl t0=rdx,#2; add t0=rbx,t0; add t0=t0,#fffffffffffffffe; store/2 "
	 "t0=rcx"},
	{"mov %ds,%eax", "8c d8",
	 "seq 2 w:rax",
	 "other rax"},
	{"movzbl %dl,%eax", "0f b6 c2",
	 "seq 3 r:rdx w:rax",
	 "zext.32/8 rax=rdx"},
	{"movzbl (%rdi),%eax", "0f b6 07",
	 "seq 3 r:rdi w:rax mr:1",
	 "load/1 rax=rdi"},
	{"movzwl 2(%rdi,%rcx,2),%r9d", "44 0f b7 4c 4f 02",
	 "seq 6 r:rcx,rdi w:r9 mr:2",
	 "shl t0=rcx,#1; add t0=rdi,t0; add t0=t0,#2; load/2 r9=t0"},
	{"movzbw %dl,%ax", "66 0f b6 c2",
	 "seq 4 r:rax,rdx w:rax",
	 "zext.16/8 t2=rdx; and t3=rax,#ffffffffffff0000; or rax=t3,t2"},
	{"movsbl %dl,%eax", "0f be c2",
	 "seq 3 r:rdx w:rax",
	 "sext.32/8 rax=rdx"},
	{"movslq (%rdx,%rax,4),%rax", "48 63 04 82",
	 "seq 4 r:rax,rdx w:rax mr:4",
	 "shl t0=rax,#2; add t0=rdx,t0; load/4 t1=t0; sext/32 rax=t1"},
	{"movslq %edi,%rdi", "48 63 ff",
	 "seq 3 r:rdi w:rdi",
	 "sext/32 rdi=rdi"},
	{"movswq (%rdi),%r8", "4c 0f bf 07",
	 "seq 4 r:rdi w:r8 mr:2",
	 "load/2 t1=rdi; sext/16 r8=t1"},
	{"lea 0x100(%rip),%rdx", "48 8d 15 00 01 00 00",
	 "seq 7 address:1107/0 w:rdx",
	 "copy rdx=#1107"},
	{"lea (%rax),%eax", "8d 00",
	 "seq 2 r:rax w:rax",
	 "copy.32 rax=rax"},
	{"lea (%rdi,%rsi,4),%rax", "48 8d 04 b7",
	 "seq 4 r:rsi,rdi w:rax",
	 "shl t0=rsi,#2; add rax=rdi,t0"},
	{"lea -1(%rdi),%ecx", "8d 4f ff",
	 "seq 3 r:rdi w:rcx",
	 "add.32 rcx=rdi,#ffffffffffffffff"},
	{"lea 8(,%rsi,8),%rax", "48 8d 04 f5 08 00 00 00",
	 "seq 8 imm:8 r:rsi w:rax",
	 "shl t0=rsi,#3; add rax=t0,#8"},
	{"lea 4(%esi),%eax", "67 8d 46 04",
	 "seq 4 r:rsi w:rax",
	 "other rax"},
	{"lea -1(,%eax,8),%ebx", "67 8d 1c c5 ff ff ff ff",
	 "seq 8 imm:ffffffff r:rax w:rbx",
	 "other rbx"},
	{"lea %fs:4(%rsi),%rax", "64 48 8d 46 04",
	 "seq 5 r:rsi w:rax",
	 "add rax=rsi,#4"},
	{"add %rcx,%rax", "48 01 c8",
	 "seq 3 r:rax,rcx w:rax fw:NZCVPA",
	 "other flags; add rax=rax,rcx"},
	{"add $1,%al", "04 01",
	 "seq 2 r:rax w:rax fw:NZCVPA",
	 "other flags; add.8 t2=rax,#1; and t3=rax,#ffffffffffffff00; or "
	 "rax=t3,t2"},
	{"addl $1,(%rdi)", "83 07 01",
	 "seq 3 r:rdi mr:4 mw:4 fw:NZCVPA",
	 "load/4 t1=rdi; other flags; add.32 t2=t1,#1; store/4 rdi=t2"},
	{"sub $8,%rsp", "48 83 ec 08",
	 "seq 4 r:rsp w:rsp fw:NZCVPA",
	 "cmp flags=rsp,#8; sub rsp=rsp,#8"},
	{"sub %ecx,%ecx", "29 c9",
	 "seq 2 w:rcx fw:NZCVPA",
	 "copy.32 rcx=#0; test.32 flags=rcx,rcx"},
	{"sub %cl,%al", "28 c8",
	 "seq 2 r:rax,rcx w:rax fw:NZCVPA",
	 "cmp.8 flags=rax,rcx; sub.8 t2=rax,rcx; and t3=rax,"
	 "#ffffffffffffff00; or rax=t3,t2"},
	{"xor %eax,%eax", "31 c0",
	 "seq 2 w:rax fw:NZCVPA",
	 "copy.32 rax=#0; test.32 flags=rax,rax"},
	{"xor %rcx,%rax", "48 31 c8",
	 "seq 3 r:rax,rcx w:rax fw:NZCVPA",
	 "other flags; xor rax=rax,rcx"},
	{"and $0xf,%ecx", "83 e1 0f",
	 "seq 3 r:rcx w:rcx fw:NZCVPA",
	 "test.32 flags=rcx,#f; and.32 rcx=rcx,#f"},
	{"andq $-16,%rsp", "48 83 e4 f0",
	 "seq 4 r:rsp w:rsp fw:NZCVPA",
	 "test flags=rsp,#fffffffffffffff0; and rsp=rsp,#fffffffffffffff0"},
	{"or %rdi,%rdi", "48 09 ff",
	 "seq 3 r:rdi w:rdi fw:NZCVPA",
	 "test flags=rdi,rdi; or rdi=rdi,rdi"},
	{"or $-1,%eax", "83 c8 ff",
	 "seq 3 r:rax w:rax fw:NZCVPA",
	 "other flags; or.32 rax=rax,#ffffffff"},
	{"inc %eax", "ff c0",
	 "seq 2 r:rax w:rax fw:NZVPA",
	 "other flags; add.32 rax=rax,#1"},
	{"decq (%rdi)", "48 ff 0f",
	 "seq 3 r:rdi mr:8 mw:8 fw:NZVPA",
	 "load/8 t1=rdi; other flags; sub t2=t1,#1; store/8 rdi=t2"},
	{"neg %edx", "f7 da",
	 "seq 2 r:rdx w:rdx fw:NZCVPA",
	 "cmp.32 flags=#0,rdx; sub.32 rdx=#0,rdx"},
	{"not %rdx", "48 f7 d2",
	 "seq 3 r:rdx w:rdx",
	 "xor rdx=rdx,#ffffffffffffffff"},
	{"notb (%rdx)", "f6 12",
	 "seq 2 r:rdx mr:1 mw:1",
	 "load/1 t1=rdx; xor.8 t2=t1,#ff; store/1 rdx=t2"},
	{"adc %rcx,%rax", "48 11 c8",
	 "seq 3 r:rax,rcx w:rax fr:C fw:NZCVPA",
	 "other rax; other flags"},
	{"sbb %eax,%eax", "19 c0",
	 "seq 2 r:rax w:rax fr:C fw:NZCVPA",
	 "copy t2=#0; select.32?ult rax=#ffffffff,t2; other flags"},
	{"sbb %rax,%rax", "48 19 c0",
	 "seq 3 r:rax w:rax fr:C fw:NZCVPA",
	 "copy t2=#0; select?ult rax=#ffffffffffffffff,t2; other flags"},
	{"sbb %ecx,%eax", "19 c8",
	 "seq 2 r:rax,rcx w:rax fr:C fw:NZCVPA",
	 "other rax; other flags"},
	{"shl $3,%rax", "48 c1 e0 03",
	 "seq 4 r:rax w:rax fw:NZCP",
	 "other flags; shl rax=rax,#3"},
	{"shr $4,%eax", "c1 e8 04",
	 "seq 3 r:rax w:rax fw:NZCP",
	 "other flags; shr.32 rax=rax,#4"},
	{"sar $31,%edx", "c1 fa 1f",
	 "seq 3 r:rdx w:rdx fw:NZCP",
	 "other flags; sar.32 rdx=rdx,#1f"},
	{"shl $0,%eax", "c1 e0 00",
	 "seq 3 r:rax w:rax",
	 "shl.32 rax=rax,#0"},
	{"shl %cl,%eax", "d3 e0",
	 "seq 2 r:rax,rcx w:rax",
	 "and t3=rcx,#1f; other flags; shl.32 rax=rax,t3"},
	{"sar %cl,(%rdi)", "48 d3 3f",
	 "seq 3 r:rcx,rdi mr:8 mw:8",
	 "load/8 t1=rdi; and t3=rcx,#3f; other flags; sar t2=t1,t3; "
	 "store/8 rdi=t2"},
	{"shr %cl,%al", "d2 e8",
	 "seq 2 r:rax,rcx w:rax",
	 "other rax; other flags"},
	{"shrb $9,(%rdi)", "c0 2f 09",
	 "seq 3 r:rdi mr:1 mw:1 fw:NZCP",
	 "other t1; store/1 rdi=t1; other flags"},
	{"rcl $9,%al", "c0 d0 09",
	 "seq 3 r:rax w:rax fr:C",
	 "other rax; other flags"},
	{"rol $8,%ax", "66 c1 c0 08",
	 "seq 4 r:rax w:rax fw:C",
	 "other rax; other flags"},
	{"rol $8,%ecx", "c1 c1 08",
	 "seq 3 r:rcx w:rcx fw:C",
	 "shl.32 t2=rcx,#8; shr.32 t1=rcx,#18; other flags; "
	 "or.32 rcx=t2,t1"},
	{"ror (%rdi)", "48 d1 0f",
	 "seq 3 r:rdi mr:8 mw:8 fw:C",
	 "load/8 t1=rdi; shl t2=t1,#3f; shr t1=t1,#1; other flags; "
	 "or t2=t2,t1; store/8 rdi=t2"},
	{"shld $4,%rax,%rdx", "48 0f a4 c2 04",
	 "seq 5 r:rax,rdx w:rdx fw:NZCP",
	 "shl t2=rdx,#4; shr t1=rax,#3c; other flags; or rdx=t2,t1"},
	{"shrd $4,%eax,%edx", "0f ac c2 04",
	 "seq 4 r:rax,rdx w:rdx fw:NZCP",
	 "shl.32 t2=rax,#1c; shr.32 t1=rdx,#4; other flags; "
	 "or.32 rdx=t2,t1"},
	{"imul $24,%rdi,%rax", "48 6b c7 18",
	 "seq 4 r:rdi w:rax fw:CV",
	 "other flags; mul rax=rdi,#18"},
	{"imul %rcx,%rax", "48 0f af c1",
	 "seq 4 r:rax,rcx w:rax fw:CV",
	 "other flags; mul rax=rax,rcx"},
	{"imul %rcx", "48 f7 e9",
	 "seq 3 r:rax,rcx w:rax,rdx fw:CV",
	 "other rax; other rdx; other flags"},
	{"mul %cl", "f6 e1",
	 "seq 2 r:rax,rcx w:rax fw:CV",
	 "other rax; other flags"},
	{"div %rcx", "48 f7 f1",
	 "seq 3 r:rax,rcx,rdx w:rax,rdx",
	 "other rax; other rdx; other flags"},
	{"idivl (%rdi)", "f7 3f",
	 "seq 2 r:rax,rdx,rdi w:rax,rdx mr:4",
	 "other rax; other rdx; other flags"},
	{"cmp $0x2f,%al", "3c 2f",
	 "seq 2 r:rax fw:NZCVPA",
	 "cmp.8 flags=rax,#2f"},
	{"cmpb $0x2f,(%rdi)", "80 3f 2f",
	 "seq 3 r:rdi mr:1 fw:NZCVPA",
	 "load/1 t1=rdi; cmp.8 flags=t1,#2f"},
	{"cmp %rax,0x100(%rip)", "48 39 05 00 01 00 00",
	 "seq 7 load:1107/8 r:rax mr:8 fw:NZCVPA",
	 "copy t0=#1107; load/8 t1=t0; cmp flags=t1,rax"},
	{"cmp 8(%rdi),%eax", "3b 47 08",
	 "seq 3 r:rax,rdi mr:4 fw:NZCVPA",
	 "add t0=rdi,#8; load/4 t2=t0; cmp.32 flags=rax,t2"},
	{"test %edi,%edi", "85 ff",
	 "seq 2 r:rdi fw:NZCVPA",
	 "test.32 flags=rdi,rdi"},
	{"testb $1,%ah", "f6 c4 01",
	 "seq 3 r:rax fw:NZCVPA",
	 "shr.16 t1=rax,#8; test.8 flags=t1,#1"},
	{"bt $3,%eax", "0f ba e0 03",
	 "seq 4 r:rax fw:C",
	 "other flags"},
	{"bts %eax,(%rdi)", "0f ab 07",
	 "seq 3 r:rax,rdi mr:4 mw:4 fw:C",
	 "other t1; store/4 ?=t1; other flags"},
	{"btsl $3,(%rdi)", "0f ba 2f 03",
	 "seq 4 r:rdi mr:4 mw:4 fw:C",
	 "other t1; store/4 rdi=t1; other flags"},
	{"cmovb %ecx,%eax", "0f 42 c1",
	 "seq 3 r:rax,rcx w:rax fr:C",
	 "select.32?ult rax=rcx,rax"},
	{"cmovs (%rdi),%rax", "48 0f 48 07",
	 "seq 4 r:rax,rdi w:rax mr:8 fr:N",
	 "load/8 t1=rdi; select?neg rax=t1,rax"},
	{"cmovp %rcx,%rax", "48 0f 4a c1",
	 "seq 4 r:rax,rcx w:rax fr:P",
	 "other rax"},
	{"sete %al", "0f 94 c0",
	 "seq 3 r:rax w:rax fr:Z",
	 "copy t2=#0; select.8?eq t2=#1,t2; and t3=rax,#ffffffffffffff00; "
	 "or rax=t3,t2"},
	{"setp %al", "0f 9a c0",
	 "seq 3 r:rax w:rax fr:P",
	 "other rax"},
	{"setg (%rdi)", "0f 9f 07",
	 "seq 3 r:rdi mw:1 fr:NZV",
	 "copy t2=#0; select.8?sgt t2=#1,t2; store/1 rdi=t2"},
	{"cltq", "48 98",
	 "seq 2 r:rax w:rax",
	 "sext/32 rax=rax"},
	{"cwtl", "98",
	 "seq 1 r:rax w:rax",
	 "sext.32/16 rax=rax"},
	{"cbtw", "66 98",
	 "seq 2 r:rax w:rax",
	 "other rax"},
	{"cltd", "99",
	 "seq 1 r:rax w:rdx",
	 "sar.32 rdx=rax,#1f"},
	{"cqto", "48 99",
	 "seq 2 r:rax w:rdx",
	 "sar rdx=rax,#3f"},
	{"push %rbx", "53",
	 "seq 1 r:rbx,rsp w:rsp mw:8",
	 "sub rsp=rsp,#8; store/8 rsp=rbx"},
	{"push %rsp", "54",
	 "seq 1 r:rsp w:rsp mw:8",
	 "copy t1=rsp; sub rsp=rsp,#8; store/8 rsp=t1"},
	{"push $0x401000", "68 00 10 40 00",
	 "seq 5 imm:401000 r:rsp w:rsp mw:8",
	 "sub rsp=rsp,#8; store/8 rsp=#401000"},
	{"push 8(%rsp)", "ff 74 24 08",
	 "seq 4 r:rsp w:rsp mr:8 mw:8",
	 "add t0=rsp,#8; load/8 t1=t0; sub rsp=rsp,#8; store/8 rsp=t1"},
	{"push %ax", "66 50",
	 "seq 2 r:rax,rsp w:rsp mw:2",
	 "sub rsp=rsp,#2; store/2 rsp=rax"},
	{"push %fs", "0f a0",
	 "seq 2 r:rsp w:rsp mw:8",
	 "other t1; sub rsp=rsp,#8; store/8 rsp=t1"},
	{"pushf", "9c",
	 "seq 1 r:rsp w:rsp mw:8 fr:NZCVPAD",
	 "other t1; sub rsp=rsp,#8; store/8 rsp=t1"},
	{"pop %rbp", "5d",
	 "seq 1 r:rsp w:rsp,rbp mr:8",
	 "load/8 t1=rsp; add rsp=rsp,#8; copy rbp=t1"},
	{"pop %rsp", "5c",
	 "seq 1 r:rsp w:rsp mr:8",
	 "load/8 t1=rsp; add rsp=rsp,#8; copy rsp=t1"},
	{"pop 8(%rsp)", "8f 44 24 08",
	 "seq 4 r:rsp w:rsp mr:8 mw:8",
	 "load/8 t1=rsp; add rsp=rsp,#8; add t0=rsp,#8; store/8 t0=t1"},
	{"pop %ax", "66 58",
	 "seq 2 r:rax,rsp w:rax,rsp mr:2",
	 "load/2 t1=rsp; add rsp=rsp,#2; and t3=rax,#ffffffffffff0000; or "
	 "rax=t3,t1"},
	{"popf", "9d",
	 "seq 1 r:rsp w:rsp mr:8 fw:NZCVPAD",
	 "load/8 t1=rsp; add rsp=rsp,#8; other flags"},
	{"leave", "c9",
	 "seq 1 r:rsp,rbp w:rsp,rbp mr:8",
	 "copy rsp=rbp; load/8 rbp=rsp; add rsp=rsp,#8"},
	{"enter $16,$0", "c8 10 00 00",
	 "seq 4 r:rsp,rbp w:rsp,rbp mw:8",
	 "other t1; store/8 ?=t1; other rsp; other rbp"},
	{"enter $16,$2", "c8 10 00 02",
	 "seq 4 r:rsp,rbp w:rsp,rbp mr:? mw:?",
	 "clobber; other rsp; other rbp"},
	{"xchg %rcx,%rax", "48 91",
	 "seq 2 r:rax,rcx w:rax,rcx",
	 "copy t1=rcx; copy rcx=rax; copy rax=t1"},
	{"xchg %eax,(%rdi)", "87 07",
	 "seq 2 atomic r:rax,rdi w:rax mr:4 mw:4",
	 "load/4 t1=rdi; store/4 rdi=rax; copy.32 rax=t1"},
	{"xchg %cl,%al", "86 c8",
	 "seq 2 r:rax,rcx w:rax,rcx",
	 "other rax; other rcx"},
	{"lock incl (%rdi)", "f0 ff 07",
	 "seq 3 atomic r:rdi mr:4 mw:4 fw:NZVPA",
	 "load/4 t1=rdi; other flags; add.32 t2=t1,#1; store/4 rdi=t2"},
	{"lock cmpxchg %ecx,(%rdi)", "f0 0f b1 0f",
	 "seq 4 atomic r:rax,rcx,rdi w:rax mr:4 mw:4 fw:NZCVPA",
	 "other t1; store/4 rdi=t1; other rax; other flags"},
	{"lock cmpxchg16b (%rdi)", "f0 48 0f c7 0f",
	 "seq 5 atomic r:rax,rcx,rdx,rbx,rdi w:rax,rdx mr:16 mw:16 fw:Z",
	 "other t1; store/16 rdi=t1; other rax; other rdx; other flags"},
	{"lock xadd %eax,(%rdi)", "f0 0f c1 07",
	 "seq 4 atomic r:rax,rdi w:rax mr:4 mw:4 fw:NZCVPA",
	 "other t1; store/4 rdi=t1; other rax; other flags"},
	{"bswap %eax", "0f c8",
	 "seq 2 r:rax w:rax",
	 "other rax"},
	{"bsf %ecx,%eax", "0f bc c1",
	 "seq 3 r:rax,rcx w:rax fw:Z",
	 "other rax; other flags"},
	{"tzcnt %rcx,%rax", "f3 48 0f bc c1",
	 "seq 5 r:rax,rcx w:rax fw:ZC",
	 "other rax; other flags"},
	{"popcnt %rcx,%rax", "f3 48 0f b8 c1",
	 "seq 5 r:rcx w:rax fw:NZCVPA",
	 "other rax; other flags"},
	{"andn %rcx,%rdx,%rax", "c4 e2 e8 f2 c1",
	 "seq 5 r:rcx,rdx w:rax fw:NZCV",
	 "other rax; other flags"},
	{"bextr %rcx,%rdx,%rax", "c4 e2 f0 f7 c2",
	 "seq 5 r:rcx,rdx w:rax fw:ZCV",
	 "other rax; other flags"},
	{"mulx %rcx,%rdx,%rax", "c4 e2 eb f6 c1",
	 "seq 5 r:rcx,rdx w:rax,rdx",
	 "other rax; other rdx"},
	{"shlx %rcx,%rdx,%rax", "c4 e2 f1 f7 c2",
	 "seq 5 r:rcx,rdx w:rax",
	 "and t3=rcx,#3f; shl rax=rdx,t3"},
	{"sarx %ecx,(%rdi),%eax", "c4 e2 72 f7 07",
	 "seq 5 r:rcx,rdi w:rax mr:4",
	 "load/4 t1=rdi; and t3=rcx,#1f; sar.32 rax=t1,t3"},
	{"rorx $8,%edx,%eax", "c4 e3 7b f0 c2 08",
	 "seq 6 r:rdx w:rax",
	 "shl.32 t2=rdx,#18; shr.32 t1=rdx,#8; or.32 rax=t2,t1"},
	{"movsb", "a4",
	 "seq 1 r:rsi,rdi w:rsi,rdi mr:1 mw:1 fr:D",
	 "other t1; store/1 rdi=t1; other rsi; other rdi"},
	{"rep movsq", "f3 48 a5",
	 "seq 3 r:rcx,rsi,rdi w:rcx,rsi,rdi mr:? mw:? fr:D",
	 "clobber; other rcx; other rsi; other rdi"},
	{"stosl", "ab",
	 "seq 1 r:rax,rdi w:rdi mw:4 fr:D",
	 "other t1; store/4 rdi=t1; other rdi"},
	{"rep stosb", "f3 aa",
	 "seq 2 r:rax,rcx,rdi w:rcx,rdi mw:? fr:D",
	 "clobber; other rcx; other rdi"},
	{"repz cmpsb", "f3 a6",
	 "seq 2 r:rcx,rsi,rdi w:rcx,rsi,rdi mr:? fr:ZD",
	 "other rcx; other rsi; other rdi; other flags"},
	{"scasb", "ae",
	 "seq 1 r:rax,rdi w:rdi mr:1 fr:D fw:NZCVPA",
	 "other rdi; other flags"},
	{"lodsb", "ac",
	 "seq 1 r:rax,rsi w:rax,rsi mr:1 fr:D",
	 "other rax; other rsi"},
	{"cld", "fc",
	 "seq 1 fw:D",
	 "other flags"},
	{"std", "fd",
	 "seq 1 fw:D",
	 "other flags"},
	{"stc", "f9",
	 "seq 1 fw:C",
	 "other flags"},
	{"lahf", "9f",
	 "seq 1 r:rax w:rax fr:NZCPA",
	 "other rax"},
	{"sahf", "9e",
	 "seq 1 r:rax fw:NZCPA",
	 "other flags"},
	{"xlat", "d7",
	 "seq 1 r:rax,rbx w:rax mr:1",
	 "other rax"},
	{"cpuid", "0f a2",
	 "seq 2 r:rax,rcx w:rax,rcx,rdx,rbx",
	 "other rax; other rcx; other rdx; other rbx"},
	{"rdtsc", "0f 31",
	 "seq 2 w:rax,rdx",
	 "other rax; other rdx"},
	{"xgetbv", "0f 01 d0",
	 "seq 3 vector r:rcx w:rax,rdx",
	 "other rax; other rdx"},
	{"rdsspq %rax", "f3 48 0f 1e c8",
	 "seq 5 r:rax w:rax",
	 "other rax"},
	{"tpause %edi", "66 0f ae f7",
	 "seq 4 r:rax,rdx,rdi fw:NZCVPA",
	 "other flags"},
	{"umwait %ecx", "f2 0f ae f1",
	 "seq 4 r:rax,rcx,rdx fw:NZCVPA",
	 "other flags"},
	{"umonitor %rdi", "f3 0f ae f7",
	 "seq 4 r:rdi",
	 ""},
	{"mfence", "0f ae f0",
	 "seq 3",
	 ""},
	{"prefetcht0 0x100(%rip)", "0f 18 0d 00 01 00 00",
	 "seq 7 hint:1107/0",
	 ""},
	{"prefetchw (%rdi)", "0f 0d 0f",
	 "seq 3 r:rdi",
	 ""},
	{"clflush (%rdi)", "0f ae 3f",
	 "seq 3 r:rdi",
	 ""},
	{"movaps %xmm0,0x100(%rip)", "0f 29 05 00 01 00 00",
	 "seq 7 store:1107/16 vector mw:16",
	 "copy t0=#1107; other t1; store/16 t0=t1"},
	{"movups (%rdi),%xmm1", "0f 10 0f",
	 "seq 3 vector r:rdi mr:16",
	 ""},
	{"movq %xmm0,%rax", "66 48 0f 7e c0",
	 "seq 5 vector w:rax",
	 "other rax"},
	{"movd %eax,%xmm0", "66 0f 6e c0",
	 "seq 4 vector r:rax",
	 ""},
	{"cvttsd2si %xmm0,%rax", "f2 48 0f 2c c0",
	 "seq 5 vector w:rax",
	 "other rax"},
	{"ucomisd %xmm1,%xmm0", "66 0f 2e c1",
	 "seq 4 vector fw:NZCVPA",
	 "other flags"},
	{"vptest %ymm1,%ymm0", "c4 e2 7d 17 c1",
	 "seq 5 vector fw:NZCVPA",
	 "other flags"},
	{"vtestps (%rdi),%xmm0", "c4 e2 79 0e 07",
	 "seq 5 vector r:rdi mr:16 fw:NZCVPA",
	 "other flags"},
	{"pcmpistri $0,%xmm1,%xmm0", "66 0f 3a 63 c1 00",
	 "seq 6 vector w:rcx fw:NZCVPA",
	 "other rcx; other flags"},
	{"maskmovdqu %xmm1,%xmm0", "66 0f f7 c1",
	 "seq 4 vector r:rdi mw:?",
	 "other t1; store/16 rdi=t1"},
	{"vmovdqu %ymm0,(%rdi)", "c5 fe 7f 07",
	 "seq 4 vector r:rdi mw:32",
	 "other t1; store/32 rdi=t1"},
	{"vpgatherdd %xmm2,(%rax,%xmm1,2),%xmm0", "c4 e2 69 90 04 48",
	 "seq 6 vector r:rax mr:?",
	 ""},
	{"vmovdqu64 (%rdi,%rcx,8),%zmm17", "62 e1 fe 48 6f 0c cf",
	 "seq 7 vector r:rcx,rdi mr:64",
	 ""},
	{"vpcompressd %zmm1,0x100(%rip)", "62 f2 7d 48 8b 0d 00 01 00 00",
	 "seq 10 store:110a/64 vector mw:64",
	 "copy t0=#110a; other t1; store/64 t0=t1"},
	{"{vex} vpmadd52luq (%rsi),%ymm1,%ymm3", "c4 e2 f5 b4 1e",
	 "seq 5 vector r:rsi mr:32",
	 ""},
	{"{vex} vpmadd52huq %xmm1,%xmm2,%xmm8", "c4 62 e9 b5 c1",
	 "seq 5 vector",
	 ""},
	{"{vex} vpmadd52luq %gs:8(%r8d),%xmm1,%xmm3",
	 "67 65 c4 c2 f1 b4 58 08",
	 "seq 8 vector r:r8 mr:16",
	 ""},
	{"vpdpbssd 0x100(%rip),%ymm1,%ymm3", "c4 e2 77 50 1d 00 01 00 00",
	 "seq 9 load:1109/32 vector mr:32",
	 ""},
	{"vpdpbsuds %xmm1,%xmm2,%xmm3", "c4 e2 6a 51 d9",
	 "seq 5 vector",
	 ""},
	{"vpdpbuud (%rdi,%rcx,4),%xmm2,%xmm3", "c4 e2 68 50 1c 8f",
	 "seq 6 vector r:rcx,rdi mr:16",
	 ""},
	{"vpmadd52luq behind 66: faults", "66 c4 e2 f5 b4 1e",
	 "bad 0",
	 "clobber"},
	{"vpmadd52luq without W: none", "c4 e2 75 b4 1e",
	 "bad 0",
	 "clobber"},
	{"vpmadd52luq cut off", "c4 e2 f5 b4 5e",
	 "bad 0",
	 "clobber"},
	{"vzeroupper", "c5 f8 77",
	 "seq 3 vector",
	 ""},
	{"fldt (%rdi)", "db 2f",
	 "seq 2 vector r:rdi mr:10",
	 ""},
	{"fstpl 8(%rsp)", "dd 5c 24 08",
	 "seq 4 vector r:rsp mw:8",
	 "add t0=rsp,#8; other t1; store/8 t0=t1"},
	{"fcomi %st(1),%st", "db f1",
	 "seq 2 vector fw:NZCVPA",
	 "other flags"},
	{"fxsave (%rdi)", "0f ae 07",
	 "seq 3 vector r:rdi mw:?",
	 "clobber"},
	{"xsave (%rdi)", "0f ae 27",
	 "seq 3 vector r:rax,rdx,rdi mr:? mw:?",
	 "clobber"},
	{"emms", "0f 77",
	 "seq 2 vector",
	 ""},
	{"movbe %eax,(%rdi)", "0f 38 f1 07",
	 "seq 4 r:rax,rdi mw:4",
	 "other t1; store/4 rdi=t1"},
	{"movnti %rax,(%rdi)", "48 0f c3 07",
	 "seq 4 r:rax,rdi mw:8",
	 "store/8 rdi=rax"},
	{"data16 jmp: vendors differ", "66 e9 00 00 00 00",
	 "bad 0",
	 "clobber"},
	{"data16 rex.W call", "66 48 e8 00 00 00 00",
	 "call 7 ->1007 r:rsp w:rsp mw:8",
	 ""},
	{"retw", "66 c3",
	 "bad 0",
	 "clobber"},
	{"push %es: not in 64-bit mode", "06",
	 "bad 0",
	 "clobber"},
	{"cut off", "48",
	 "bad 0",
	 "clobber"},
	{"lock mov", "f0 89 07",
	 "bad 0",
	 "clobber"},
	{"jkzd: Knights Corner", "c5 f8 84 00 00 00 00",
	 "bad 0",
	 "clobber"},
	{"xchg %r8,%rax", "41 90",
	 "seq 2 r:rax,r8 w:rax,r8",
	 "copy t1=r8; copy.32 r8=rax; copy.32 rax=t1"},
	{"mov %fs:0x100(%rip),%eax", "64 8b 05 00 01 00 00",
	 "seq 7 address:1107/0 w:rax mr:4",
	 "other rax"},
	{"repz cmpsq", "f3 48 a7",
	 "seq 3 r:rcx,rsi,rdi w:rcx,rsi,rdi mr:? fr:ZD",
	 "other rcx; other rsi; other rdi; other flags"},
	{"vmovups %zmm0,0x100(%rip)", "62 f1 7c 48 11 05 00 01 00 00",
	 "seq 10 store:110a/64 vector mw:64",
	 "copy t0=#110a; other t1; store/64 t0=t1"},
};

static const char *const kind_name[] = {
	"bad", "unknown", "seq", "jump", "cond", "call",
	"ret", "ijump", "icall", "trap", "syscall",
};

static const char *const ref_name[] = {
	"", "address", "page", "load", "store", "hint",
};

static const char *const cond_name[] = {
	"always", "eq", "ne", "ult", "ule", "ugt", "uge",
	"slt", "sle", "sgt", "sge", "neg", "pos", "other",
};

static const char *const uop_name[] = {
	"other", "clobber", "copy", "add", "sub", "and", "or", "xor",
	"mul", "shl", "shr", "sar", "zext", "sext", "load", "store",
	"cmp", "test", "ccmp", "select", "branch", "jump",
};

/* appends to a string of SIZE bytes */
static void __attribute__((format(printf, 2, 3)))
add(char *s, const char *format, ...)
{
	size_t n = strlen(s);
	va_list ap;

	va_start(ap, format);
	vsnprintf(s + n, SIZE - n, format, ap);
	va_end(ap);
}

/* appends a set of registers: " w:rax,rcx" */
static void add_registers(char *s, const char *title, regset set)
{
	const char *sep = title;

	for (unsigned r = 0; r < isa_x64.nregs; r++)
		if (set >> r & 1) {
			add(s, "%s%s", sep, isa_x64.reg_name(r));
			sep = ",";
		}
}

/* appends a set of flags: " fw:NZC" */
static void add_flags(char *s, const char *title, uint8_t set)
{
	if (set)
		add(s, "%s", title);
	for (unsigned i = 0; i < 7; i++)
		if (set >> i & 1)
			add(s, "%c", "NZCVPAD"[i]);
}

/* appends bytes of memory: " mr:8", " mw:?" */
static void add_bytes(char *s, const char *title, uint16_t bytes)
{
	if (bytes == MEM_SIZE_UNKNOWN)
		add(s, "%s?", title);
	else if (bytes)
		add(s, "%s%u", title, bytes);
}

/* describes all that decode() says */
static void show_insn(const struct insn *i, char *s)
{
	*s = 0;
	add(s, "%s %u", kind_name[i->kind], i->len);
	if (i->target)
		add(s, " ->%lx", (unsigned long)i->target);
	if (i->ref_kind)
		add(s, " %s:%lx/%u", ref_name[i->ref_kind],
		    (unsigned long)i->ref, i->ref_size);
	if (i->has_imm)
		add(s, " imm:%lx", (unsigned long)i->imm);
	if (i->pad)
		add(s, " pad");
	if (i->cond)
		add(s, " %s", cond_name[i->cond]);
	if (i->mem_class == MEM_ATOMIC)
		add(s, " atomic");
	if (i->vector)
		add(s, " vector");
	add_registers(s, " r:", i->reads);
	add_registers(s, " w:", i->writes);
	add_bytes(s, " mr:", i->mem_read);
	add_bytes(s, " mw:", i->mem_write);
	add_flags(s, " fr:", i->flags_read);
	add_flags(s, " fw:", i->flags_written);
}

/* appends a uop's operand */
static void add_operand(char *s, const char *sep, uint8_t r, int64_t imm)
{
	if (r == UOP_NONE)
		return;
	if (r == UOP_IMM)
		add(s, "%s#%lx", sep, (unsigned long)imm);
	else if (r == UOP_FLAGS)
		add(s, "%sflags", sep);
	else if (r > UOP_FLAGS)
		add(s, "%st%d", sep, r - UOP_TMP0);
	else
		add(s, "%s%s", sep, isa_x64.reg_name(r));
}

/* describes micro-operations: "add.32 rax=rax,#1; store/4 [t0]=rcx" */
static void show_uops(const struct uop *u, unsigned n, char *s)
{
	*s = 0;
	for (unsigned i = 0; i < n; i++, u++) {
		add(s, "%s%s", i ? "; " : "", uop_name[u->code]);
		if (u->width != 64)
			add(s, ".%u", u->width);
		if (u->size)
			add(s, "/%u", u->size);
		if (u->code == UOP_SELECT || u->code == UOP_BRANCH)
			add(s, "?%s", cond_name[u->cond]);
		add_operand(s, " ", u->dst, 0);
		if (u->code == UOP_STORE && u->a == UOP_NONE)
			add(s, " ?");
		add_operand(s, u->dst == UOP_NONE ? " " : "=", u->a, u->imm);
		add_operand(s, u->code == UOP_STORE ? "=" : ",", u->b,
			    u->imm);
	}
}

/* the bytes of a string of hexadecimal numbers, on the heap */
static uint8_t *parse_hex(const char *hex, size_t *n)
{
	uint8_t *code = malloc(strlen(hex) / 3 + 1);
	char *end;

	for (*n = 0; *hex; hex = end)
		code[(*n)++] = strtoul(hex, &end, 16);
	return code;
}

/* one row: decode(), lift(), and scan() as far as it goes */
static void check_row(const struct expected *row)
{
	char text[SIZE];
	struct uop u[UOP_MAX];
	struct insn d, s;
	size_t n;
	uint8_t *code = parse_hex(row->hex, &n);

	isa_x64.decode(code, n, ADDR, &d);
	show_insn(&d, text);
	if (strcmp(text, row->insn) != 0)
		fail_msg("%s: decode gives \"%s\"", row->text, text);
	show_uops(u, isa_x64.lift(code, n, ADDR, u), text);
	if (strcmp(text, row->uops) != 0)
		fail_msg("%s: lift gives \"%s\"", row->text, text);
	isa_x64.scan(code, n, ADDR, &s);
	assert_int_equal(s.kind, d.kind);
	assert_int_equal(s.len, d.len);
	assert_int_equal(s.target, d.target);
	assert_int_equal(s.ref, d.ref);
	assert_int_equal(s.ref_kind, d.ref_kind);
	assert_int_equal(s.pad, d.pad);
	free(code);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		check_row(&table[i]);
}

/* the constants that other rooms use */
static void test_machine(void **state)
{
	(void)state;
	assert_string_equal(isa_x64.name, "x86-64");
	assert_int_equal(isa_x64.elf_machine, 62);
	assert_int_equal(isa_x64.align, 1);
	assert_int_equal(isa_x64.max_len, 15);
	assert_int_equal(isa_x64.nregs, 16);
	assert_string_equal(isa_x64.reg_name(isa_x64.sp), "rsp");
	assert_int_equal(isa_x64.entry_cfa, 8);
	assert_int_equal(isa_x64.callee_saved, 0xf038);
	assert_int_equal(isa_x64.linker_scratch, 1 << 11);
}

/* nothing to read at all */
static void test_empty(void **state)
{
	struct uop u[UOP_MAX];
	struct insn i;

	(void)state;
	isa_x64.scan((const uint8_t *)"", 0, ADDR, &i);
	assert_int_equal(i.kind, INSN_BAD);
	isa_x64.decode((const uint8_t *)"", 0, ADDR, &i);
	assert_int_equal(i.kind, INSN_BAD);
	assert_int_equal(i.addr, ADDR);
	assert_int_equal(isa_x64.lift((const uint8_t *)"", 0, ADDR, u), 1);
	assert_int_equal(u[0].code, UOP_CLOBBER);
}

/* what programs may not do, or have not done for long */
static void test_privileged(void **state)
{
	static const struct {
		const char *code;
		uint8_t len;
		bool privileged;
	} all[] = {
		{"\xec", 1, true},		/* in (%dx), %al */
		{"\x6e", 1, true},		/* outsb */
		{"\xfa", 1, true},		/* cli */
		{"\xf4", 1, true},		/* hlt */
		{"\xcb", 1, true},		/* lret */
		{"\xc2\x08\x00", 3, true},	/* ret $8 */
		{"\xc3", 1, false},		/* ret */
		{"\xa1\1\2\3\4\5\6\7\x8", 9, true}, /* movabs, %eax */
		{"\x0f\x20\xc0", 3, true},	/* mov %cr0, %rax */
		{"\x0f\x05", 2, false},		/* syscall */
		{"\x0f\x31", 2, false},		/* rdtsc */
		{"\x0f\xa2", 2, false},		/* cpuid */
		{"\xf3\xa4", 2, false},		/* rep movsb */
		{"\xa8\x01", 2, false},		/* test $1, %al */
		{"\x0f\xa0", 2, false},		/* push %fs */
		{"\xc5\xf8\x77", 3, false},	/* vzeroupper */
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_int_equal(isa_x64.is_privileged((const uint8_t *)all[i].code,
						all[i].len), all[i].privileged);
	assert_true(isa_x64.is_privileged((const uint8_t *)"", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_privileged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
