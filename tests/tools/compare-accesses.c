/*
 * compare-accesses: does isa->accesses() say what qemu's memory saw?
 *
 *	compare-accesses aarch64|x86-64 <LOG
 *
 * LOG is qemu's, with registers before every instruction and what each
 * accesses (tests/lib/qemu-addresses.c). From the registers this works out
 * which bytes must be read and written, and which others may be, and compares
 * them with those that were. A line for each difference, beginning with the
 * instruction's bytes; then how many instructions were compared, how many of
 * them access memory, and how many accesses there were of each kind.
 *
 * An instruction that did not go on to the next may have been interrupted, and
 * is left out unless it is a branch. Differences of qemu's that are none:
 * store-exclusives may fail, and read before they write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/access.h"

enum { LINE = 1 << 12, LOADS = 1, STORES = 2 };

static const char *const hows[] = {
	"plain", "atomic", "exclusive", "string", "until", "gather", "masked",
	"unknown", "block",
};

/* a growing array of addresses of bytes */
struct bytes {
	uint64_t *at;
	size_t n, room;
};

/* bytes of one direction */
struct direction {
	struct bytes must, may, seen;
	bool open; /* anything may be accessed */
};

struct state {
	uint64_t regs[32], segments[ACCESS_SEGMENTS], pc;
	bool backward; /* the direction flag */
};

static const struct isa *isa;
static struct state latest, before;
static uint8_t code[16];
static size_t len; /* of the instruction that runs; 0: none does */
static struct insn insn;
static struct access wanted[ACCESS_MOST];
static unsigned n_wanted;
static struct direction loads, stores;
static uint64_t compared, accessing, complaints, counts[ACCESS_HOWS];

static void add_bytes(struct bytes *b, uint64_t addr, uint64_t size)
{
	while (b->n + size > b->room) {
		b->room = b->room ? 2 * b->room : 1024;
		b->at = realloc(b->at, b->room * sizeof *b->at);
		if (!b->at)
			abort();
	}
	for (uint64_t i = 0; i < size; i++)
		b->at[b->n++] = addr + i;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* sorts, and takes each once */
static void make_set(struct bytes *b)
{
	size_t n = 0;

	if (!b->n)
		return;
	qsort(b->at, b->n, sizeof *b->at, by_address);
	for (size_t i = 1; i < b->n; i++)
		if (b->at[i] != b->at[n])
			b->at[++n] = b->at[i];
	b->n = n + 1;
}

/* whether the set is within the other */
static bool is_within(const struct bytes *b, const struct bytes *other)
{
	size_t k = 0;

	for (size_t i = 0; i < b->n; i++) {
		while (k < other->n && other->at[k] < b->at[i])
			k++;
		if (k == other->n || other->at[k] != b->at[i])
			return false;
	}
	return true;
}

static bool is_string(const struct access *a)
{
	return a->how == ACCESS_STRING || a->how == ACCESS_STRING_UNTIL;
}

/* what may be done on `size` bytes, and must be done unless `optional` */
static void expect(const struct access *a, uint64_t addr, uint64_t size,
		   bool optional)
{
	struct direction *both[] = {&loads, &stores};

	for (int i = 0; i < 2; i++) {
		if (a->kind == (i ? ACCESS_LOAD : ACCESS_STORE))
			continue;
		add_bytes(&both[i]->may, addr, size);
		if (!optional)
			add_bytes(&both[i]->must, addr, size);
	}
}

/* rcx times, or as often as ecx says */
static void expect_string(const struct access *a, uint64_t addr)
{
	uint64_t n = before.regs[1], step = a->size;

	if (a->narrow)
		n = (uint32_t)n;
	if (before.backward)
		step = -step;
	for (uint64_t i = 0; i < n && i < 1 << 24; i++)
		expect(a, addr + i * step, a->size,
		       a->how == ACCESS_STRING_UNTIL);
}

static void expect_access(const struct access *a)
{
	uint64_t addr = access_address(a, before.regs, before.segments);
	bool optional = a->how == ACCESS_MASKED;

	counts[a->how]++;
	if (is_string(a)) {
		expect_string(a, addr);
	} else if (a->how >= ACCESS_UNKNOWN || a->how == ACCESS_GATHER) {
		loads.open |= a->kind != ACCESS_STORE;
		stores.open |= a->kind != ACCESS_LOAD;
	} else {
		if (a->how == ACCESS_EXCLUSIVE && a->kind == ACCESS_STORE) {
			add_bytes(&loads.may, addr, a->size);
			optional = true;
		}
		expect(a, addr, a->size, optional);
	}
}

static void print_bytes(const char *name, const struct bytes *b)
{
	printf(" %s", name);
	for (size_t i = 0; i < b->n && i < 80; i++)
		if (!i || b->at[i] != b->at[i - 1] + 1)
			printf(" %" PRIx64, b->at[i]);
	printf(" (%zu)", b->n);
}

/* false, and a complaint is printed: what was accessed is not what had to be */
static bool agrees(struct direction *d)
{
	make_set(&d->must);
	make_set(&d->may);
	make_set(&d->seen);
	return d->open || (is_within(&d->must, &d->seen) &&
			   is_within(&d->seen, &d->may));
}

static void complain(const char *what, const struct direction *d)
{
	complaints++;
	for (size_t i = 0; i < len; i++)
		printf("%02x", code[i]);
	printf(" at %" PRIx64 ": %s", before.pc, what);
	print_bytes("must be", &d->must);
	print_bytes("may be", &d->may);
	print_bytes("is", &d->seen);
	printf("\n");
}

static void forget(struct direction *d)
{
	d->must.n = d->may.n = d->seen.n = 0;
	d->open = false;
}

/* the instruction that ran is done, and the next is at `pc` */
static void finish(uint64_t pc)
{
	bool seq = insn.kind == INSN_SEQ;

	if (len && insn.kind != INSN_SYSCALL &&
	    (!seq || pc == before.pc + insn.len)) {
		for (unsigned i = 0; i < n_wanted; i++)
			expect_access(&wanted[i]);
		compared++;
		accessing += n_wanted != 0;
		if (!agrees(&loads))
			complain("loads", &loads);
		if (!agrees(&stores))
			complain("stores", &stores);
	}
	len = 0;
	forget(&loads);
	forget(&stores);
}

/* "@ ADDRESS BYTES": an instruction begins, or goes on with its next time */
static void begin(const char *line)
{
	uint8_t bytes[sizeof code];
	uint64_t pc;
	unsigned byte;
	size_t n = 0;
	int at;

	if (sscanf(line, "@ %" SCNx64 " %n", &pc, &at) != 1)
		return;
	for (line += at; n < sizeof bytes && sscanf(line, "%2x", &byte) == 1;
	     line += 2)
		bytes[n++] = (uint8_t)byte;
	if (len && n_wanted && is_string(wanted) && pc == before.pc)
		return;
	finish(pc);
	if (pc != latest.pc)
		return;
	before = latest;
	memcpy(code, bytes, len = n);
	isa->decode(code, len, pc, &insn);
	n_wanted = isa->accesses(code, len, pc, wanted);
}

/* "! WHAT ADDRESS SIZE" */
static void note_access(const char *line)
{
	unsigned what, size;
	uint64_t addr;

	if (sscanf(line, "! %u %" SCNx64 " %u", &what, &addr, &size) != 3)
		return;
	if (what & LOADS)
		add_bytes(&loads.seen, addr, size);
	if (what & STORES)
		add_bytes(&stores.seen, addr, size);
}

/* where a register of this name is kept, or NULL */
static uint64_t *place_of(const char *name)
{
	static const char *const x64[] = {
		"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8",
		"R9", "R10", "R11", "R12", "R13", "R14", "R15",
	};

	if (name[0] == 'X')
		return &latest.regs[strtoul(name + 1, NULL, 10) % 31];
	if (!strcmp(name, "SP"))
		return &latest.regs[31];
	if (!strcmp(name, "PC") || !strcmp(name, "RIP"))
		return &latest.pc;
	for (unsigned i = 0; i < sizeof x64 / sizeof *x64; i++)
		if (!strcmp(name, x64[i]))
			return &latest.regs[i];
	return NULL;
}

/* "NAME=VALUE ...": registers; of "FS =", the second number is the base */
static void note_registers(const char *line)
{
	uint64_t value, base, *place;
	char name[8];
	int at;

	while (sscanf(line, " %7[A-Z0-9] =%" SCNx64 "%n", name, &value,
		      &at) == 2 ||
	       sscanf(line, " %7[A-Z0-9]=%" SCNx64 "%n", name, &value,
		      &at) == 2) {
		line += at;
		place = place_of(name);
		if (place)
			*place = value;
		else if (!strcmp(name, "RFL"))
			latest.backward = value >> 10 & 1;
		else if (sscanf(line, "%" SCNx64, &base) == 1 &&
			 name[1] == 'S' && (*name == 'F' || *name == 'G'))
			latest.segments[*name == 'F' ? ACCESS_FS : ACCESS_GS] =
				base;
	}
}

int main(int argc, char **argv)
{
	static char line[LINE];

	isa = argc < 2 ? NULL : !strcmp(argv[1], isa_a64.name) ? &isa_a64 :
	      !strcmp(argv[1], isa_x64.name) ? &isa_x64 : NULL;
	if (!isa) {
		fprintf(stderr, "compare-accesses aarch64|x86-64 <LOG\n");
		return 2;
	}
	while (fgets(line, sizeof line, stdin)) {
		if (*line == '@')
			begin(line);
		else if (*line == '!')
			note_access(line);
		else
			note_registers(line);
	}
	printf("total %" PRIu64 " %" PRIu64, compared, accessing);
	for (int i = 0; i < ACCESS_HOWS; i++)
		printf(" %s=%" PRIu64, hows[i], counts[i]);
	printf("\n");
	return complaints != 0;
}
