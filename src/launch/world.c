/*
 * world: see world.h.
 */
#include "launch/world.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "isa/move.h"
#include "runtime/handover.h"
#include "runtime/hash.h"

/* the word at the beginning of the plan's memory points to the handover */
enum { WORD_SIZE = 8 };

static unsigned call_size(void *ctx, const struct insertion *i,
			  const struct scratch *s)
{
	const struct cfg *c = ctx;

	(void)i;
	(void)s;
	return c->isa->move->call_size;
}

static bool call_write(void *ctx, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	const struct cfg *c = ctx;

	(void)i;
	return c->isa->move->call(addr, bases->support, s->reg[0], out);
}

static bool gate_write(void *ctx, const struct plan_bases *bases, uint8_t *out)
{
	const struct cfg *c = ctx;

	return c->isa->move->gate(bases->support, bases->data,
				  HANDOVER_ON_CALL, out);
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

bool world_plan(struct plan *p, const struct cfg *c)
{
	if (!c->isa->move || !c->isa->move->gate)
		return false;
	*p = (struct plan){
		.data_size = WORD_SIZE,
		.support_size = c->isa->move->gate_size,
		.dynamic_tag = HANDOVER_TAG,
		.ctx = (void *)c,
		.size = call_size,
		.write = call_write,
		.support = gate_write,
	};
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct insertion i = {.place = PLAN_BEFORE, .nregs = 1,
				      .memory = true};

		if (c->block.at[b].last != INSN_SYSCALL)
			continue;
		i.at = system_call(c, &c->block.at[b]);
		vec_push(&p->insertion, i);
	}
	return true;
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
