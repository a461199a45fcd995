/*
 * world: see world.h.
 */
#include "launch/world.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/needs.h"
#include "isa/move.h"
#include "launch/closure.h"
#include "launch/part.h"
#include "runtime/handover.h"
#include "runtime/hash.h"
#include "runtime/passport.h"

enum {
	/* the word at the beginning of the plan's memory: the handover */
	WORD_SIZE = 8,
	PASSPORT_ALIGN = 8,
	ENTRY_ALIGN = 16,
	ENTRY_CODE = 16, /* behind its two distances */
	ENTRY_MAX = 1 << 20,
};

/* of one plan */
struct world {
	const struct cfg *c;
	uint8_t *entry; /* code that the program begins with, or NULL */
	size_t entry_size;
	uint32_t entry_at; /* in the support code, behind the gate */
	uint32_t passport_at; /* behind that */
	struct world_cargo cargo;
	uint64_t cargo_at; /* in the plan's memory, or joined behind it */
};

static unsigned call_size(void *ctx, const struct insertion *i,
			  const struct scratch *s)
{
	const struct world *w = ctx;

	(void)i;
	(void)s;
	return w->c->isa->move->call_size;
}

static bool call_write(void *ctx, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	const struct world *w = ctx;

	(void)i;
	return w->c->isa->move->call(addr, bases->support, s->reg[0], out);
}

/* the code, and how far from it the word and the program's beginning are */
static void entry_write(const struct world *w, const struct plan_bases *bases,
			uint8_t *out)
{
	uint64_t at = bases->support + w->entry_at;
	uint64_t distance[2] = {bases->support + w->passport_at - at,
				w->c->image->entry - at};

	memcpy(out + w->entry_at, w->entry, w->entry_size);
	memcpy(out + w->entry_at, distance, sizeof distance);
}

/* what the object says of itself */
static void passport_write(const struct world *w,
			   const struct plan_bases *bases, uint8_t *out)
{
	uint64_t at = bases->support + w->passport_at;
	struct passport p = {
		.magic = PASSPORT_MAGIC,
		.word = (int64_t)(bases->data - at),
		.ncounter = w->cargo.ncounter,
	};

	if (p.ncounter)
		p.counters = p.word + (int64_t)w->cargo_at;
	memcpy(p.id, w->cargo.id, sizeof p.id);
	memcpy(out + w->passport_at, &p, sizeof p);
}

static bool support_write(void *ctx, const struct plan_bases *bases,
			  uint8_t *out)
{
	const struct world *w = ctx;

	if (w->entry)
		entry_write(w, bases, out);
	passport_write(w, bases, out);
	return w->c->isa->move->gate(bases->support, bases->data,
				     HANDOVER_ON_CALL, out);
}

/* a program that ld.so does not start: no audit module will be there */
static bool begins_alone(const struct image *im, struct needs *n)
{
	struct err e;
	bool alone;

	if (!im->entry || needs_read(n, im->path, &e))
		return false;
	alone = n->loads ? closure_is_musl(n) : n->program;
	if (!alone)
		needs_free(n);
	return alone;
}

/* reads the entry's code, if the program needs and tally has it */
static void entry_read(struct world *w)
{
	char name[64], path[PATH_MAX];
	struct needs n;
	FILE *f;

	if (!begins_alone(w->c->image, &n))
		return;
	snprintf(name, sizeof name, "entry-%s.bin", n.machine->isa);
	needs_free(&n);
	f = part_find(path, sizeof path, name) ? fopen(path, "re") : NULL;
	if (!f)
		return;
	w->entry = mem_alloc(ENTRY_MAX);
	w->entry_size = fread(w->entry, 1, ENTRY_MAX, f);
	fclose(f);
	if (w->entry_size <= ENTRY_CODE || w->entry_size == ENTRY_MAX) {
		mem_free(w->entry);
		w->entry = NULL;
	}
}

/* makes room for the entry behind the gate */
static void entry_plan(struct world *w, struct plan *p)
{
	entry_read(w);
	if (!w->entry)
		return;
	w->entry_at = (p->support_size + ENTRY_ALIGN - 1) &
		      -(uint32_t)ENTRY_ALIGN;
	p->support_size = w->entry_at + (uint32_t)w->entry_size;
	p->entry = w->entry_at + ENTRY_CODE;
}

/* and for the passport behind that */
static void passport_plan(struct world *w, struct plan *p)
{
	w->passport_at = (p->support_size + PASSPORT_ALIGN - 1) &
			 -(uint32_t)PASSPORT_ALIGN;
	p->support_size = w->passport_at + (uint32_t)sizeof(struct passport);
	p->dynamic_at = w->passport_at;
}

/* the address of the system call that ends a block */
static uint64_t system_call(const struct cfg *c, const struct block *b)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);
	struct insn in = {.addr = b->start};

	for (uint64_t at = b->start; code && at < block_end(b); at += in.len) {
		c->isa->scan(code + (at - b->start), block_end(b) - at, at,
			     &in);
		if (!in.len)
			break;
	}
	return in.addr;
}

bool world_has_gate(uint16_t e_machine)
{
	const struct isa *isa = isa_for_elf(e_machine);

	return isa && isa->move && isa->move->gate;
}

bool world_plan(struct plan *p, const struct cfg *c,
		const struct world_cargo *cargo)
{
	struct world *w;

	if (!c->isa->move || !c->isa->move->gate)
		return false;
	w = NEW_ARRAY(struct world, 1);
	w->c = c;
	w->cargo_at = c->isa->page; /* data_align of the plan behind it */
	if (cargo)
		w->cargo = *cargo;
	*p = (struct plan){
		.data_size = WORD_SIZE,
		.support_size = c->isa->move->gate_size,
		.dynamic_tag = HANDOVER_TAG,
		.ctx = w,
		.size = call_size,
		.write = call_write,
		.support = support_write,
	};
	entry_plan(w, p);
	passport_plan(w, p);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct insertion i = {.place = PLAN_BEFORE, .nregs = 1,
				      .memory = true, .calls = true};

		if (c->block.at[b].last != INSN_SYSCALL)
			continue;
		i.at = system_call(c, &c->block.at[b]);
		vec_push(&p->insertion, i);
	}
	return true;
}

void world_plan_free(struct plan *p)
{
	struct world *w = p->ctx;

	vec_free(&p->insertion);
	mem_free(w->entry);
	mem_free(w);
}

/* e_entry of a file, 0 if it has none */
static uint64_t entry_of(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h = {.e_entry = 0};

	if (fd < 0)
		return 0;
	if (read(fd, &h, sizeof h) != sizeof h)
		h.e_entry = 0;
	close(fd);
	return h.e_entry;
}

bool world_enters(const char *original, const char *copy)
{
	uint64_t entry = entry_of(original), new = entry_of(copy);

	return entry && new && new != entry;
}

static bool leads_to(const char *link, const char *file)
{
	char there[PATH_MAX];
	ssize_t n = readlink(link, there, sizeof there - 1);

	return n > 0 && (size_t)n == strlen(file) && !memcmp(there, file, n);
}

char *world_link(struct arena *a, const char *dir, const char *file)
{
	size_t room = strlen(dir) + 64;
	char *name = arena_alloc(a, room), *fresh = arena_alloc(a, room);

	snprintf(name, room, "%s/x-%016llx", dir,
		 (unsigned long long)hash_bytes(file, strlen(file), 0));
	if (leads_to(name, file))
		return name;
	snprintf(fresh, room, "%s.%ld", name, (long)getpid());
	if (symlink(file, fresh) || rename(fresh, name)) {
		unlink(fresh);
		return NULL;
	}
	return name;
}
