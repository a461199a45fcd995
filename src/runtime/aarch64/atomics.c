/*
 * atomics: what the compiler calls for atomic operations (-moutline-atomics).
 *
 * A debugger that steps through a pair of exclusive load and store never gets
 * behind it: the exception of each step makes the store fail. So if it fails
 * again and again, the instructions of ARMv8.1 (LSE) do it, on processors that
 * have them, as the C library's do. Which they are is asked only then: the
 * kernel answers for a register that user programs cannot read, which takes as
 * long as a system call. All operations acquire and release: these are few.
 */
#include <stdint.h>

enum {
	TRIES = 64,
	ATOMICS_SHIFT = 20, /* in ID_AA64ISAR0_EL1: 4 bits, 2: LSE */
	ATOMICS_LSE = 2,
};

static int has_lse(void)
{
	uint64_t features;

	__asm__("mrs %0, id_aa64isar0_el1" : "=r"(features));
	return (features >> ATOMICS_SHIFT & 15) >= ATOMICS_LSE;
}

/* should it be tried once more with exclusive instructions? */
static inline int once_more(unsigned *tried)
{
	return ++*tried % TRIES || !has_lse();
}

/*
 * UPDATE: a function of that name that replaces *p by what `compute` makes of
 * it (was) and n (new), and returns what it was; r: the form of registers, w or
 * x. COMPARE: one that replaces it if it is as expected.
 */
#define EXCLUSIVE(r, compute) \
	"ldaxr %" r "[was], %[p]\n\t" \
	compute "\n\t" \
	"stlxr %w[failed], %" r "[new], %[p]\n\t"

#define UPDATE(name, type, r, compute, lse) \
	type name(type n, type *p); \
	__attribute__((used)) type name(type n, type *p) \
	{ \
		unsigned failed, tried = 0; \
		type was, new; \
\
		do { \
			__asm__ volatile( \
				EXCLUSIVE(r, compute) \
				: [was] "=&r"(was), [new] "=&r"(new), \
				  [failed] "=&r"(failed), [p] "+Q"(*p) \
				: [n] "r"(n) : "memory"); \
			if (!failed) \
				return was; \
		} while (once_more(&tried)); \
		__asm__ volatile(".arch_extension lse\n\t" \
				 lse " %" r "[n], %" r "[was], %[p]" \
				 : [was] "=&r"(was), [p] "+Q"(*p) \
				 : [n] "r"(n) : "memory"); \
		return was; \
	}

#define COMPARE(name, type, r) \
	type name(type expected, type new, type *p); \
	__attribute__((used)) type name(type expected, type new, type *p) \
	{ \
		unsigned failed, tried = 0; \
		type was; \
\
		do { \
			__asm__ volatile( \
				"ldaxr %" r "[was], %[p]\n\t" \
				"mov %w[failed], #0\n\t" \
				"cmp %" r "[was], %" r "[expected]\n\t" \
				"b.ne 1f\n\t" \
				"stlxr %w[failed], %" r "[new], %[p]\n" \
				"1:" \
				: [was] "=&r"(was), [failed] "=&r"(failed), \
				  [p] "+Q"(*p) \
				: [expected] "r"(expected), [new] "r"(new) \
				: "memory", "cc"); \
			if (!failed) \
				return was; \
		} while (once_more(&tried)); \
		was = expected; \
		__asm__ volatile(".arch_extension lse\n\t" \
				 "casal %" r "[was], %" r "[new], %[p]" \
				 : [was] "+r"(was), [p] "+Q"(*p) \
				 : [new] "r"(new) : "memory"); \
		return was; \
	}

COMPARE(__aarch64_cas4_acq, uint32_t, "w")
COMPARE(__aarch64_cas8_relax, uint64_t, "x")
UPDATE(__aarch64_ldadd4_acq_rel, uint32_t, "w",
       "add %w[new], %w[was], %w[n]", "ldaddal")
UPDATE(__aarch64_ldadd4_relax, uint32_t, "w",
       "add %w[new], %w[was], %w[n]", "ldaddal")
UPDATE(__aarch64_ldadd8_relax, uint64_t, "x",
       "add %x[new], %x[was], %x[n]", "ldaddal")
UPDATE(__aarch64_ldset8_relax, uint64_t, "x",
       "orr %x[new], %x[was], %x[n]", "ldsetal")
UPDATE(__aarch64_swp4_acq, uint32_t, "w", "mov %w[new], %w[n]", "swpal")
UPDATE(__aarch64_swp4_rel, uint32_t, "w", "mov %w[new], %w[n]", "swpal")
