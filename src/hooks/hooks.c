/*
 * hooks: see hooks.h.
 */
#include "hooks/hooks.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>

#include "elf/needs.h"
#include "isa/move.h"
#include "isa/uop.h"
#include "base/installed.h"
#include "rewrite/output/reverse_map.h"
#include "abi/launch_env.h"
#include "abi/object_header.h"

enum {
	/*
	 * The word at the beginning of the plan's memory: the launch_env; and
	 * one that is always 0, for runtime/entry.c
	 */
	WORD_SIZE = 16,
	OBJECT_HEADER_ALIGN = 8,
	ENTRY_ALIGN = 16,
	SUPPORT_ALIGN = 16, /* of the plan behind it (insert/join.h) */
	ENTRY_CODE = 16, /* behind its two distances */
	ENTRY_MAX = 1 << 20,
	LEAST_LINKED = 1 << 16, /* address that a library is linked for */
};

/* half of what the least address space has (39 bits), where slots are */
#define MOST_LINKED (UINT64_C(1) << 38)

/* of one plan */
struct hooking {
	const struct cfg *c;
	uint8_t *entry; /* code that the program begins with, or NULL */
	size_t entry_size;
	uint32_t entry_at;            /* in the support code, behind the hook */
	uint32_t object_header_at;    /* behind that */
	uint32_t hook_at[HOOK_KINDS]; /* in the support code */
	bool alone;                   /* a program that needs no library */
	uint32_t tell_at;             /* the hook before jumps */
	bool counts; /* in this or another object of the program */
	struct counter_layout layout;
	uint32_t behind; /* where the support code of the plan behind it is */
	uint64_t layout_at; /* in the plan's memory, or joined behind it */
};

/*
 * Insertions are numbered by the hook that they call; those before jumps follow
 * all hooks.
 */
static bool is_indirect(const struct insertion *i)
{
	return i->code >= HOOK_KINDS;
}

static unsigned call_size(void *ctx, const struct insertion *i,
			  const struct scratch *s)
{
	const struct hooking *w = ctx;

	(void)s;
	return is_indirect(i) ? w->c->isa->move->tell_size
			      : w->c->isa->move->call_size;
}

static bool tell_write(const struct hooking *w, const struct hooks_jump *j,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	const struct isa *isa = w->c->isa;
	struct tell t = {.table = j->table,
			 .index = j->index,
			 .number = j->number,
			 .depth = s->depth};
	struct insn in;
	size_t avail;

	t.code = image_at(w->c->image, j->at, &avail);
	isa->decode(t.code, avail, j->at, &in);
	t.in = &in;
	return isa->move->tell(&t, addr, bases->support, s->reg[0], out);
}

static bool call_write(void *ctx, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	const struct hooking *w = ctx;
	const struct isa_move *move = w->c->isa->move;

	if (is_indirect(i))
		return tell_write(w, &w->layout.jump[i->code - HOOK_KINDS],
				  s, addr, bases, out);
	return move->call(addr, bases->support, s->reg[0], out);
}

/* the code, and how far from it the word and the program's beginning are */
static void entry_write(const struct hooking *w, const struct plan_bases *bases,
			uint8_t *out)
{
	uint64_t at = bases->support + w->entry_at;
	uint64_t distance[2] = {bases->support + w->object_header_at - at,
				w->c->image->entry - at};

	memcpy(out + w->entry_at, w->entry, w->entry_size);
	memcpy(out + w->entry_at, distance, sizeof distance);
}

/*
 * Where threads' words are subtracted: see counting.h. A library that is linked
 * for an address is mapped there, if that is free.
 */
bool hooks_subtract(const struct cfg *c)
{
	const struct image *im = c->image;

	return (im->type == ET_EXEC || (im->segment[0].start >= LEAST_LINKED &&
					im->segment[0].start < MOST_LINKED)) &&
	       c->isa->move->add_thread;
}

_Static_assert(REVERSE_MAP_RUN == BACK_RUN && REVERSE_MAP_CODE == BACK_CODE &&
		       REVERSE_MAP_NONE == BACK_NONE &&
		       REVERSE_MAP_ENTRY == sizeof(struct back_entry),
	       "what the rewriter writes is what the object_header says");

/* what the object says of itself */
static void object_header_write(const struct hooking *w,
				const struct plan_bases *bases, uint8_t *out)
{
	uint64_t at = bases->support + w->object_header_at;
	struct object_header p = {
		.magic = OBJECT_HEADER_MAGIC,
		.word = (int64_t)(bases->data - at),
		.ncounter = w->layout.ncounter,
		.nsite = w->layout.nsite,
		.running = w->layout.running,
		.nevent = w->layout.nevent,
		.highest = w->layout.highest,
		.flags = (hooks_subtract(w->c) ? OBJECT_HEADER_ABOVE : 0u) |
			 (w->layout.takes_slot ? OBJECT_HEADER_TAKES : 0u) |
			 (w->layout.traps ? OBJECT_HEADER_TRAPS : 0u) |
			 (w->layout.traces ? OBJECT_HEADER_TRACES : 0u) |
			 (w->layout.addresses ? OBJECT_HEADER_ADDRESSES : 0u) |
			 (w->layout.waits ? OBJECT_HEADER_WAITS : 0u) |
			 (w->alone ? OBJECT_HEADER_ALONE : 0u) |
			 (w->c->go.n ? OBJECT_HEADER_SMALL_STACKS : 0u) |
			 (w->layout.left_out ? OBJECT_HEADER_LEFT_OUT : 0u),
		.here = at,
		.low = w->c->image->segment[0].start,
		.high = bases->data,
		.nback = (uint32_t)bases->nback,
		.back_base = bases->back_base,
		.preempts = cfg_go_preempter(w->c),
	};

	if (w->layout.client)
		p.client = (int64_t)(w->layout.client - at);
	if (p.nback)
		p.back = (int64_t)(bases->back - at);
	if (p.ncounter)
		p.counters =
			p.word + (int64_t)(w->layout_at + w->layout.counters);
	if (p.nsite) {
		p.site = (int64_t)(bases->constants - at);
		p.room = p.word + (int64_t)w->layout_at;
	}
	if (w->layout.calls_size) {
		p.ncallee = w->layout.ncallee;
		p.calls_size = w->layout.calls_size;
		p.callee = (int64_t)(bases->constants + w->layout.callee - at);
		p.calls = (int64_t)(bases->support + w->behind - at);
	}
	memcpy(p.id, w->layout.id, sizeof p.id);
	memcpy(out + w->object_header_at, &p, sizeof p);
}

/* are there hooks of that kind? Counters need to know of threads */
static bool has_hook(const struct hooking *w, enum hook_kind k)
{
	if (k == HOOK_RESUME)
		return w->counts && w->c->go.n;
	if (k == HOOK_EVERY)
		return w->layout.syscalls;
	return (k == HOOK_NAMES) != w->counts;
}

/* where in the launch_env the hook finds the function that it calls */
static unsigned asks_at(enum hook_kind k)
{
	return k == HOOK_EVERY	  ? LAUNCH_ENV_ON_SYSCALL
	       : k == HOOK_BEHIND ? LAUNCH_ENV_AFTER_CALL
	       : k == HOOK_JUMP   ? LAUNCH_ENV_ON_JUMP
	       : k == HOOK_RESUME ? LAUNCH_ENV_ON_RESUME
				  : LAUNCH_ENV_ON_CALL;
}

static bool support_write(void *ctx, const struct plan_bases *bases,
			  uint8_t *out)
{
	const struct hooking *w = ctx;

	if (w->entry)
		entry_write(w, bases, out);
	object_header_write(w, bases, out);
	for (unsigned k = 0; k < HOOK_KINDS; k++)
		if (has_hook(w, k) &&
		    !w->c->isa->move->hook(k, bases->support + w->hook_at[k],
					   bases->data, asks_at(k),
					   out + w->hook_at[k]))
			return false;
	return !w->layout.njump ||
	       w->c->isa->move->tell_hook(bases->support + w->tell_at,
					  bases->data, LAUNCH_ENV_ON_INDIRECT,
					  bases->support + w->object_header_at,
					  out + w->tell_at);
}

/*
 * A program that begins without our audit module: ld.so does not start it, or
 * it is run by hand, without the LD_AUDIT that launch sets.
 */
static bool begins_alone(const struct image *im, bool by_hand, struct needs *n)
{
	struct err e;
	bool alone;

	if (!im->entry || needs_read(n, im->path, &e))
		return false;
	alone = (n->program && (by_hand || !needs_audits(n))) ||
		needs_is_musl(n);
	if (!alone)
		needs_free(n);
	return alone;
}

/* reads the entry's code, if the program needs and tally has it */
static void entry_read(struct hooking *w)
{
	char name[64], path[PATH_MAX];
	struct needs n;
	FILE *f;

	if (!begins_alone(w->c->image, w->layout.by_hand, &n))
		return;
	snprintf(name, sizeof name, "entry-%s.bin", n.machine->isa);
	w->alone = !n.needed.n;
	needs_free(&n);
	f = installed_find(path, sizeof path, name) ? fopen(path, "re") : NULL;
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

/* makes room for the entry behind the hook */
static void entry_plan(struct hooking *w, struct plan *p)
{
	entry_read(w);
	if (!w->entry)
		return;
	w->entry_at =
		(p->support_size + ENTRY_ALIGN - 1) & -(uint32_t)ENTRY_ALIGN;
	p->support_size = w->entry_at + (uint32_t)w->entry_size;
	p->entry = w->entry_at + ENTRY_CODE;
}

/* and for the object_header behind that */
static void object_header_plan(struct hooking *w, struct plan *p)
{
	w->object_header_at = (p->support_size + OBJECT_HEADER_ALIGN - 1) &
			      -(uint32_t)OBJECT_HEADER_ALIGN;
	p->support_size =
		w->object_header_at + (uint32_t)sizeof(struct object_header);
	p->dynamic_at = w->object_header_at;
}

/* a system call at the end of a block */
struct system_call {
	uint64_t at;
	bool known; /* the block says which one it is */
	uint64_t number;
};

/* the instruction, which changes the number's register, makes it a constant */
static void read_number(const struct isa *isa, const uint8_t *code,
			const struct insn *in, struct system_call *s)
{
	struct uop u[UOP_MAX];
	unsigned n = isa->lift(code, in->len, in->addr, u);

	s->known = n == 1 && u[0].code == UOP_COPY && u[0].a == UOP_IMM;
	if (s->known)
		s->number = (uint64_t)u[0].imm;
}

static struct system_call system_call(const struct cfg *c,
				      const struct block *b)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);
	struct system_call s = {.at = b->start};
	struct insn in;

	for (uint64_t at = b->start; code && at < block_end(b); at += in.len) {
		const uint8_t *here = code + (at - b->start);

		c->isa->decode(here, block_end(b) - at, at, &in);
		if (!in.len)
			break;
		if (in.kind == INSN_UNKNOWN)
			s.known = false;
		else if (in.kind != INSN_SYSCALL &&
			 in.writes >> c->isa->move->number_reg & 1)
			read_number(c->isa, here, &in, &s);
		s.at = at;
	}
	return s;
}

/* would a hook of that kind ask about it? */
static bool may_ask(const struct hooking *w, enum hook_kind k,
		    const struct system_call *s)
{
	return has_hook(w, k) &&
	       (k == HOOK_EVERY || !s->known ||
		w->c->isa->move->hook_asks(k, s->number));
}

static void add_call(struct plan *p, enum hook_kind k, struct insertion i)
{
	const struct hooking *w = p->ctx;

	i.code = k;
	i.memory = i.calls = true;
	i.call_at = w->hook_at[k];
	vec_push(&p->insertion, i);
}

/*
 * Is the block reached only from a system call that unmaps memory? It may have
 * been the stack: a detached thread of musl ends so.
 */
static bool without_stack(const struct cfg *c, uint32_t b)
{
	const struct block *k = &c->block.at[b], *last = k - 1;
	struct system_call s;

	if (!b || k->flags & BLOCK_ENTRY || block_end(last) != k->start ||
	    last->last != INSN_SYSCALL)
		return false;
	s = system_call(c, last);
	return s.known && s.number == c->isa->move->unmap_number;
}

/* does the system call at `at` have the numbers that hooks know? */
static bool is_own_call(const struct cfg *c, uint64_t at)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, at, &avail);

	return !c->isa->move->own_call ||
	       (avail >= 2 && c->isa->move->own_call(code));
}

/* calls of hooks around the system call that ends a block */
static void add_calls(struct plan *p, const struct cfg *c, uint32_t b)
{
	const struct isa_move *move = c->isa->move;
	const struct block *k = &c->block.at[b];
	struct system_call s = system_call(c, k);
	struct insertion before = {
		.place = PLAN_BEFORE, .at = s.at, .nregs = move->call_regs};
	/* number and result may be dead to the program, but not to the hook */
	struct insertion behind = {.place = PLAN_EDGE,
				   .at = k->edge,
				   .nregs = move->call_regs,
				   .keep = (regset)1 << move->number_reg |
					   (regset)1 << move->result_reg};

	if (without_stack(c, b) || !is_own_call(c, s.at))
		return;
	for (unsigned g = 0; g < HOOK_BEHIND; g++)
		if (may_ask(p->ctx, g, &s))
			add_call(p, g, before);
	if (k->edge < cfg_edges_end(c, b) && may_ask(p->ctx, HOOK_BEHIND, &s))
		add_call(p, HOOK_BEHIND, behind);
}

/* does the procedure leave frames without returning from them? */
static bool is_jump(const struct procedure *p)
{
	static const char *const names[] = {
		"longjmp",       "_longjmp",       "siglongjmp",
		"__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp",
	};

	for (unsigned i = 0; p->name && i < sizeof names / sizeof *names; i++)
		if (!strcmp(p->name, names[i]))
			return true;
	return false;
}

/* calls HOOK_JUMP at longjmp() and the like, which may leave a handler */
static void add_jump_calls(struct plan *p, const struct cfg *c)
{
	for (uint32_t i = 0; i < c->proc.n; i++) {
		struct insertion x = {.place = PLAN_BEFORE,
				      .nregs = c->isa->move->call_regs,
				      .at = c->proc.at[i].entry};
		uint32_t b = cfg_block_at(c, x.at);

		if (is_jump(&c->proc.at[i]) && !c->proc.at[i].import &&
		    b != CFG_NONE && c->block.at[b].start == x.at)
			add_call(p, HOOK_JUMP, x);
	}
}

/*
 * Go's scheduler interrupts threads anywhere, by a call of this function that
 * a handler makes the thread do. Where that returns to is an old address.
 */
static void add_resume_calls(struct plan *p, const struct cfg *c)
{
	for (uint32_t b = 0; b < c->block.n; b++) {
		const struct block *k = &c->block.at[b];
		struct insertion x = {.place = PLAN_BEFORE,
				      .nregs = c->isa->move->call_regs,
				      .at = system_call(c, k).at};

		if (k->last == c->isa->move->resumes_by &&
		    cfg_go_preempts(c, k->start))
			add_call(p, HOOK_RESUME, x);
	}
}

/* room for the hooks, at the beginning */
static void hooks_plan_calls(struct hooking *w, struct plan *p)
{
	for (unsigned k = 0; k < HOOK_KINDS; k++)
		if (has_hook(w, k)) {
			w->hook_at[k] = p->support_size;
			p->support_size += w->c->isa->move->hook_size(k);
		}
	if (w->layout.njump) {
		w->tell_at = p->support_size;
		p->support_size += w->c->isa->move->tell_hook_size;
	}
}

struct insertion hooks_jump_insertion(const struct isa *isa,
				      const struct hooks_jump *j)
{
	return (struct insertion){
		.place = PLAN_BEFORE,
		.at = j->at,
		.nregs = isa->move->call_regs,
		.memory = true,
		.calls = true,
		.keep = j->reads,
	};
}

/* and calls of the one before jumps */
static void add_jumps(struct plan *p, const struct hooking *w)
{
	for (uint32_t i = 0; i < w->layout.njump; i++) {
		struct insertion x =
			hooks_jump_insertion(w->c->isa, &w->layout.jump[i]);

		x.call_at = w->tell_at;
		x.code = HOOK_KINDS + i;
		vec_push(&p->insertion, x);
	}
}

bool hooks_exist(uint16_t e_machine)
{
	const struct isa *isa = isa_for_elf(e_machine);

	return isa && isa->move && isa->move->hook;
}

bool hooks_plan(struct plan *p, const struct cfg *c,
		const struct counter_layout *layout)
{
	struct hooking *w;

	if (!c->isa->move || !c->isa->move->hook)
		return false;
	w = NEW_ARRAY(struct hooking, 1);
	w->c = c;
	w->layout_at = c->isa->page; /* data_align of the plan behind it */
	w->counts = layout;
	if (layout)
		w->layout = *layout;
	*p = (struct plan){
		.data_size = WORD_SIZE,
		.dynamic_tag = LAUNCH_ENV_TAG,
		.ctx = w,
		.size = call_size,
		.write = call_write,
		.support = support_write,
	};
	hooks_plan_calls(w, p);
	entry_plan(w, p);
	object_header_plan(w, p);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].last == INSN_SYSCALL)
			add_calls(p, c, b);
	if (has_hook(w, HOOK_JUMP))
		add_jump_calls(p, c);
	if (has_hook(w, HOOK_RESUME))
		add_resume_calls(p, c);
	add_jumps(p, w);
	w->behind = (p->support_size + SUPPORT_ALIGN - 1) &
		    -(uint32_t)SUPPORT_ALIGN;
	return true;
}

void hooks_plan_free(struct plan *p)
{
	struct hooking *w = p->ctx;

	vec_free(&p->insertion);
	mem_free(w->entry);
	mem_free(w);
}
