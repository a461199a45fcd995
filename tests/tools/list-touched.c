/*
 * list-touched OUT PID TID: what a thread of a program that tally runs accessed
 * in memory, as an emulator saw it (tests/lib/qemu-touched.c), in lines of
 * `tally replay --as addresses`. Inserted code is left out, and so are stubs of
 * the linker, of which replays do not tell.
 *
 * What the emulator sees in parts is one access: those of an instruction that
 * read, and those that write. An address is `?` where it says nothing: stores
 * that a lost reservation fails, and dc zva. Constants that the new code has a
 * copy of are told where the original has them, if they were loaded: a signal
 * may arrive before that, and it begins again.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "count/map/map.h"
#include "count/profile/embedded.h"
#include "elf/image.h"
#include "isa/access.h"
#include "isa/move.h"
#include "rewrite/output/reverse_map.h"
#include "touched.h"

/* code in memory */
struct module {
	uint64_t start, end, base;
	struct image original;
	struct reverse_map back;
	bool moved; /* it is rewritten */
	const char *name; /* of the original, without folders */
};

/* an instruction of the original, and the bytes it accessed */
struct touching {
	const struct module *m; /* NULL: none */
	uint64_t at;
	struct {
		uint64_t from, to;
	} side[2]; /* read, written */
};

static VEC(struct module) module;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "list-touched: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* --- modules */

static void open_original(struct module *m, const char *path)
{
	size_t nmap, nback;
	struct err e;
	uint8_t *bytes = embedded_read(path, MAP_SECTION, &nmap, &e), *back;
	struct map map = {0};

	if (!bytes)
		return;
	back = embedded_read(path, REVERSE_MAP_SECTION, &nback, &e);
	if (!back || map_unpack(&map, bytes, nmap, path, &e) ||
	    reverse_map_read(&m->back, back, nback) ||
	    image_open(&m->original, map.path, &e))
		die(path);
	m->name = strrchr(m->original.path, '/') + 1;
	m->moved = true;
}

static void read_modules(const char *name)
{
	char line[PATH_MAX + 128], path[PATH_MAX + 1];
	FILE *f = fopen(name, "re");

	if (!f)
		die(name);
	while (fgets(line, sizeof line, f)) {
		struct module m = {0};

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64
			   " %4096[^\n]", &m.start, &m.end, &m.base, path) != 4)
			die(name);
		open_original(&m, path);
		vec_push(&module, m);
	}
	fclose(f);
}

/* what was mapped last there */
static const struct module *module_at(uint64_t pc)
{
	for (size_t i = module.n; i-- > 0;)
		if (pc >= module.at[i].start && pc < module.at[i].end)
			return &module.at[i];
	return NULL;
}

/* --- accesses */

static void put(const struct touching *t, char kind, uint64_t address,
		bool known, uint64_t size)
{
	printf("%s\t0x%" PRIx64 "\t%c\t", t->m->name, t->at, kind);
	if (known)
		printf("0x%" PRIx64, address);
	else
		putchar('?');
	if (size == MEM_SIZE_UNKNOWN)
		puts("\t?");
	else
		printf("\t%" PRIu64 "\n", size);
}

static bool in_stub(const struct touching *t, const struct isa *isa)
{
	enum { STUB = 16 };

	for (unsigned back = 0; isa->move->link_match && back < STUB;
	     back += isa->align) {
		size_t avail;
		const uint8_t *code = image_at(&t->m->original, t->at - back,
					       &avail);

		if (code && isa->move->link_match(code, avail, t->at - back))
			return true;
	}
	return false;
}

static void tell(const struct touching *t)
{
	struct access a[ACCESS_MOST];
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(&t->m->original, t->at, &avail);
	const struct isa *isa = isa_for_elf(t->m->original.machine);
	unsigned n;
	bool constant;

	if (!code)
		die("code of the original");
	isa->decode(code, avail, t->at, &in);
	n = isa->accesses(code, avail, t->at, a);
	constant = n == 1 && a->base == ISA_NO_REG &&
		   a->index == ISA_NO_REG && a->how == ACCESS_PLAIN;
	for (unsigned i = 0; n && i < 2 && !in_stub(t, isa); i++) {
		uint64_t size = t->side[i].to - t->side[i].from;
		bool known = size;

		/* stores by reservation are seen as both */
		if (!(i ? in.mem_write : in.mem_read))
			continue;
		if (constant && known)
			put(t, "rw"[i], (uint64_t)a->disp + t->m->base, true,
			    a->size);
		else if (!constant)
			put(t, "rw"[i], t->side[i].from, known,
			    known ? size : i ? in.mem_write : in.mem_read);
	}
}

static void widen(struct touching *t, unsigned i, uint64_t at, uint64_t size)
{
	if (t->side[i].to && t->side[i].to != at) {
		errno = 0;
		die("accesses that do not follow each other");
	}
	if (!t->side[i].to)
		t->side[i].from = at;
	t->side[i].to = at + size;
}

/* an instruction begins: that of the original, or part of it, or another */
static void begin(struct touching *t, uint64_t pc)
{
	const struct module *m = module_at(pc);
	struct place_back at = {.kind = RANGE_NONE};

	if (m && m->moved)
		at = reverse_map_find(&m->back, pc - m->base);
	if (at.kind == RANGE_ONE && at.start != pc - m->base)
		return;
	if (t->m)
		tell(t);
	*t = (struct touching){0};
	if (at.kind == RANGE_RUN || at.kind == RANGE_ONE) {
		t->m = m;
		t->at = at.old;
	}
}

int main(int argc, char **argv)
{
	char name[PATH_MAX];
	struct touching t = {0};
	uint64_t x[2];
	FILE *f;

	if (argc != 4) {
		fprintf(stderr, "usage: list-touched OUT PID TID\n");
		return 125;
	}
	snprintf(name, sizeof name, "%s.maps.%s", argv[1], argv[2]);
	read_modules(name);
	snprintf(name, sizeof name, "%s.steps.%s.%s", argv[1], argv[2],
		 argv[3]);
	f = fopen(name, "re");
	if (!f)
		die(name);
	while (fread(x, sizeof x, 1, f) == 1 && x[0]) {
		if (!x[1]) {
			begin(&t, x[0]);
			continue;
		}
		if (t.m && x[1] & TOUCHED_LOAD)
			widen(&t, 0, x[0], x[1] & TOUCHED_SIZE);
		if (t.m && x[1] & TOUCHED_STORE)
			widen(&t, 1, x[0], x[1] & TOUCHED_SIZE);
	}
	if (t.m)
		tell(&t);
	fclose(f);
	return 0;
}
