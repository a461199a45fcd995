/* kinds: see kinds.h. */
#include "events/kinds.h"

#include <string.h>

const struct event_word event_words[EVENT_KINDS] = {
	[EVENT_INSNS] = {"insns", "instructions"},
	[EVENT_LOADS] = {"loads", "instructions that read memory"},
	[EVENT_STORES] = {"stores", "instructions that write memory"},
	[EVENT_LOAD_BYTES] = {"load-bytes", "bytes that they read"},
	[EVENT_STORE_BYTES] = {"store-bytes", "bytes that they write"},
	[EVENT_BRANCHES] = {"branches", "jumps, conditional ones too, calls "
					"and returns"},
	[EVENT_TAKEN] = {"taken", "branches after which another instruction "
				  "ran than the next"},
	[EVENT_CALLS] = {"calls", "calls, direct and indirect"},
	[EVENT_INDIRECT_CALLS] = {"indirect-calls", "calls through a register "
						    "or memory"},
	[EVENT_RETURNS] = {"returns", "returns"},
	[EVENT_SYSCALLS] = {"syscalls", "system calls"},
	[EVENT_FP] = {"fp", "instructions that compute on floating-point "
			    "numbers"},
	[EVENT_VECTOR] = {"vector", "instructions on vectors of several "
				    "elements"},
	[EVENT_ATOMICS] = {"atomics", "atomic and exclusive memory accesses"},
};

enum event_kind event_find(const char *name, size_t len)
{
	unsigned k = 0;

	while (k < EVENT_KINDS && (strlen(event_words[k].name) != len ||
				   memcmp(event_words[k].name, name, len)))
		k++;
	return (enum event_kind)k;
}

/* what the kernel does at a system call is not the instruction's */
static uint32_t bytes_of(const struct insn *in, uint16_t size)
{
	if (in->kind == INSN_SYSCALL)
		return 0;
	return size == MEM_SIZE_UNKNOWN ? EVENT_VARIES : size;
}

static bool is_call(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_ICALL;
}

/* it always goes somewhere else */
static bool always_goes(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_IJUMP ||
	       in->kind == INSN_RET || is_call(in);
}

uint32_t event_of_insn(enum event_kind k, const struct insn *in)
{
	bool known = in->kind != INSN_UNKNOWN && in->kind != INSN_BAD;

	if (!known && k != EVENT_INSNS)
		return EVENT_VARIES;
	switch (k) {
	case EVENT_INSNS:
		return 1;
	case EVENT_LOADS:
		return bytes_of(in, in->mem_read) != 0;
	case EVENT_STORES:
		return bytes_of(in, in->mem_write) != 0;
	case EVENT_LOAD_BYTES:
		return bytes_of(in, in->mem_read);
	case EVENT_STORE_BYTES:
		return bytes_of(in, in->mem_write);
	case EVENT_BRANCHES:
		return always_goes(in) || in->kind == INSN_COND;
	case EVENT_TAKEN:
		return always_goes(in);
	case EVENT_CALLS:
		return is_call(in);
	case EVENT_INDIRECT_CALLS:
		return in->kind == INSN_ICALL;
	case EVENT_RETURNS:
		return in->kind == INSN_RET;
	case EVENT_SYSCALLS:
		return in->kind == INSN_SYSCALL;
	case EVENT_FP:
		return in->fp;
	case EVENT_VECTOR:
		return in->packed;
	case EVENT_ATOMICS:
		return in->mem_class == MEM_ATOMIC ||
		       in->mem_class == MEM_EXCL_LOAD ||
		       in->mem_class == MEM_EXCL_STORE;
	case EVENT_KINDS:
		break;
	}
	return 0;
}
