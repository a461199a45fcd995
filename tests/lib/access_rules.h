/*
 * access_rules: what isa/access.h promises of every instruction's accesses, on
 * every machine.
 */
#ifndef TESTS_ACCESS_RULES_H
#define TESTS_ACCESS_RULES_H

#include "isa/access.h"

/* whether `size` tells how many bytes are accessed */
static inline bool access_is_sized(const struct access *a)
{
	return a->size != MEM_SIZE_UNKNOWN && a->how != ACCESS_STRING &&
	       a->how != ACCESS_STRING_UNTIL && a->how != ACCESS_GATHER &&
	       a->how != ACCESS_MASKED;
}

/* the bytes of all accesses but those of one kind, as struct insn tells it */
static inline unsigned access_sum(const struct access *a, unsigned n,
				  enum access_kind but)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (a[i].kind == but)
			continue;
		if (!access_is_sized(&a[i]))
			return MEM_SIZE_UNKNOWN;
		sum += a[i].size;
	}
	return sum;
}

/* what is wrong with one access, or NULL */
static inline const char *access_is_wrong(const struct access *a,
					  const struct insn *in)
{
	if (a->kind > ACCESS_MODIFY || a->how >= ACCESS_HOWS ||
	    a->extend > ACCESS_ZERO8 || a->segment >= ACCESS_SEGMENTS)
		return "a field of an access";
	if ((a->base != ISA_NO_REG && !(in->reads >> a->base & 1)) ||
	    (a->index != ISA_NO_REG && !(in->reads >> a->index & 1)))
		return "an address of a register that is not read";
	if (!a->size || !a->element)
		return "an access of nothing";
	if (a->size != MEM_SIZE_UNKNOWN && a->size % a->element)
		return "an element that does not divide the access";
	if (a->size == MEM_SIZE_UNKNOWN && a->how != ACCESS_UNKNOWN &&
	    a->how != ACCESS_GATHER && a->how != ACCESS_BLOCK)
		return "an unknown size";
	if (a->how == ACCESS_ATOMIC && a->kind != ACCESS_MODIFY)
		return "an atomic access that does not modify";
	return NULL;
}

/*
 * What of the accesses of the instruction at code does not agree with what
 * decode() says of it, or NULL.
 */
static inline const char *access_disagrees(const struct isa *isa,
					   const uint8_t *code, size_t avail,
					   uint64_t addr)
{
	struct access a[ACCESS_MOST];
	unsigned n = isa->accesses(code, avail, addr, a);
	const char *wrong = NULL;
	struct insn in;

	isa->decode(code, avail, addr, &in);
	if (n > ACCESS_MOST)
		return "too many accesses";
	if (in.kind == INSN_SYSCALL)
		return n ? "an access of a system call" : NULL;
	if (in.kind == INSN_BAD || in.kind == INSN_UNKNOWN)
		return n == 1 && a->kind == ACCESS_MODIFY &&
		       a->how == ACCESS_UNKNOWN && a->base == ISA_NO_REG &&
		       a->size == MEM_SIZE_UNKNOWN ? NULL :
		       "accesses of what is not known";
	for (unsigned i = 0; i < n && !wrong; i++)
		wrong = access_is_wrong(&a[i], &in);
	if (!wrong && access_sum(a, n, ACCESS_STORE) != in.mem_read)
		wrong = "bytes that are read";
	if (!wrong && access_sum(a, n, ACCESS_LOAD) != in.mem_write)
		wrong = "bytes that are written";
	return wrong;
}

#endif
