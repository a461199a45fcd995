/*
 * rewrite: see rewrite.h; the steps, one after the other.
 */
#include "rewrite/rewrite_int.h"
#include "rewrite/survey/survey_int.h"

#include <inttypes.h>

#include "base/debug.h"
#include "base/parallel.h"

/* fewer bytes are not worth a thread, nor are parts */
enum { COPY_LEAST = 8 << 20, PREPARE_PARTS = 1000 };

void rewrite_report_free(struct rewrite_report *r)
{
	vec_free(&r->in_place);
}

/* all of a rewriting, step by step */
struct rewriter {
	struct inputs in;
	struct layout l;
	struct table_segment t;
	struct output o;
};

/* jumps of stubs, and over them */
static size_t jumps_of(const struct sites *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->stub.n; i++) {
		const struct site *x = site_of_stub(s, i);

		n += !x->leads || x->over;
	}
	return n;
}

/* what the new code is made of */
static void count_new(const struct layout *l, struct rewrite_report *n)
{
	const struct plan *plan = l->in->plan;
	const struct cfg *c = l->in->c;

	n->new_bytes = l->text_end - l->text_addr;
	for (int k = 0; k < SPOT_KINDS; k++)
		for (size_t i = 0; i < l->sites.at[k].n; i++)
			n->inserted_bytes += l->sites.at[k].at[i].size;
	n->jump_bytes = (uint64_t)l->in->move->jump_size * jumps_of(&l->sites);
	for (size_t i = 0; i < l->tables.copy.n; i++)
		n->table_bytes +=
			(uint64_t)TABLE_ENTRY *
			c->dispatch.at[l->tables.copy.at[i].dispatch].count;
	n->link_bytes = plt_stubs_size(&l->links, c);
	n->support_bytes = plan ? plan->support_size : 0;
	n->data_bytes = plan ? plan->data_size : 0;
	n->islands = (uint32_t)l->islands.island.n;
}

static void make_report(const struct rewriter *r, struct rewrite_report *n)
{
	const struct survey *s = r->in.survey;

	n->text_bytes = r->in.c->text_bytes;
	for (size_t i = 0; i < r->l.m.map.span.n; i++)
		n->moved_bytes += r->l.m.map.span.at[i].size;
	n->left_out = r->l.sites.left_out;
	n->unreached = r->o.unreached;
	n->tables = (uint32_t)s->tables.copy.n;
	for (size_t i = 0; i < s->labels.table.n; i++)
		n->tables += !s->labels.table.at[i].refused;
	if (r->in.move)
		count_new(&r->l, n);
}

/* writes code, and tables again if the room for islands was too small */
static int write_contents(struct rewriter *r)
{
	for (;;) {
		if (text_write(&r->o))
			return -1;
		if (!island_overflow(&r->l.islands))
			return text_finish(&r->o);
		layout_again(&r->l);
		if (file_place_tables(&r->l, &r->t))
			return -1;
	}
}

/* a task: the tables, as soon as code has its place */
struct placing {
	struct rewriter *r;
	int failed;
};

static void *place_tables(void *arg)
{
	struct placing *p = arg;

	p->failed = file_place_tables(&p->r->l, &p->r->t);
	return NULL;
}

/* links are aligned like code */
static uint64_t plt_stubs_addr(const struct layout *l)
{
	const struct plan *plan = l->in->plan;
	uint64_t support = plan ? plan->support_size : 0;

	return (l->support_addr + support + 15) & ~UINT64_C(15);
}

/* what the survey says, to work with */
static void take_survey(struct layout *l)
{
	const struct survey *s = l->in->survey;

	vec_append(&l->m.moved, &s->moves.moved);
	l->m.old_runs = l->m.moved.n && (l->in->move->hop_size || s->kept);
	vec_append(&l->tables.copy, &s->tables.copy);
	vec_append(&l->tables.part, &s->tables.part);
}

/* in threads, as pages are new */
static void copy_old(void *arg, size_t from, size_t end)
{
	const struct output *o = arg;

	memcpy(o->old + from, o->in->im->bytes + from, end - from);
}

/* what has to be there before code is written, when all has its place */
static int prepare(struct rewriter *r)
{
	struct placing tables = {.r = r};
	struct task task;

	task_begin(&task, place_tables, &tables,
		   r->l.m.moved.n >= PREPARE_PARTS);
	old_pools_find(&r->l, &r->l.islands);
	r->o.old = mem_alloc(r->in.im->size);
	parallel_for(copy_old, &r->o, r->in.im->size, COPY_LEAST);
	property_drop(&r->o);
	task_end(&task);
	return tables.failed;
}

static int rewrite_steps(struct rewriter *r, const char *path)
{
	const struct inputs *in = &r->in;
	struct layout *l = &r->l;

	if (file_place_code(l))
		return -1;
	take_survey(l);
	if (in->options->strict && !l->m.moved.n)
		return err_set(in->e, ERR_INPUT, "%s: no code can be moved: %s",
			       in->im->path,
			       in->survey->in_place.n ?
				       in->survey->in_place.at[0].reason :
				       "there is none");
	if (sites_make(&l->sites, in->survey, in->plan, in->e))
		return -1;
	edge_code_find(&l->edge_code, in->survey, &l->sites);
	l->support_addr = l->text_addr;
	plt_stubs_find(&l->links, in->c, plt_stubs_addr(l));
	layout_text(l);
	if (prepare(r) || write_contents(r))
		return -1;
	file_write_constants(l, &r->t);
	return dynamic_add(&r->o) || file_write(&r->o, path) ? -1 : 0;
}

/* how old addresses lead to new code */
static void tell_trampolines(const struct rewriter *r,
			     const struct rewrite_report *n)
{
	const struct survey *s = r->in.survey;
	size_t hops = 0;

	for (size_t i = 0; i < s->trampoline.n; i++)
		hops += s->trampoline.at[i].jump != s->trampoline.at[i].at;
	if (s->trampoline.n)
		debug(DEBUG_REWRITE,
		      "%s: %zu trampolines, %zu of them hops to "
		      "a jump elsewhere",
		      r->in.im->path, s->trampoline.n, hops);
	else
		debug(DEBUG_REWRITE,
		      "%s: every instruction has a trampoline; "
		      "%" PRIu32 " islands, %" PRIu32 " places that no jump "
		      "reaches",
		      r->in.im->path, n->islands, n->unreached);
}

/* what became of the image (TALLY_DEBUG) */
static void tell(const struct rewriter *r, const struct rewrite_report *n)
{
	const char *path = r->in.im->path;

	debug(DEBUG_REWRITE,
	      "%s: %" PRIu64 " of %" PRIu64 " bytes of code "
	      "move to 0x%" PRIx64 " and become %" PRIu64 ", %" PRIu64 " of "
	      "them inserted",
	      path, n->moved_bytes, n->text_bytes, r->l.text_addr, n->new_bytes,
	      n->inserted_bytes);
	if (n->moved_bytes)
		tell_trampolines(r, n);
	if (n->left_out)
		debug(DEBUG_REWRITE,
		      "%s: %zu insertions are left out: their "
		      "code stays",
		      path, n->left_out);
	for (size_t i = 0; i < n->in_place.n; i++)
		debug(DEBUG_REWRITE,
		      "%s: 0x%" PRIx64 " to 0x%" PRIx64 " stays in place: %s",
		      path, n->in_place.at[i].start, n->in_place.at[i].end,
		      n->in_place.at[i].reason);
}

static void rewriter_free(struct rewriter *r)
{
	struct layout *l = &r->l;

	sites_free(&l->sites);
	vec_free(&l->edge_code.lead);
	tables_free(&l->tables);
	vec_free(&l->links.link);
	moves_free(&l->m);
	vec_free(&l->literal);
	vec_free(&l->islands.pool);
	vec_free(&l->islands.island);
	vec_free(&r->t.bytes);
	unwind_out_free(&r->t.unwind);
	mem_free(r->o.old);
	mem_free(r->o.text);
}

static int rewrite_surveyed(const struct inputs *in, const char *path,
			    struct rewrite_report *report)
{
	struct rewriter r = {.in = *in};
	int failed;

	r.l.in = r.o.in = &r.in;
	r.l.islands.move = in->move;
	r.o.l = &r.l;
	r.o.t = &r.t;
	r.o.islands = &r.l.islands;
	failed = rewrite_steps(&r, path);
	if (!failed) {
		vec_append(&report->in_place, &in->survey->in_place);
		make_report(&r, report);
		if (debug_is_on(DEBUG_REWRITE))
			tell(&r, report);
	}
	rewriter_free(&r);
	return failed;
}

int rewrite_image(const struct cfg *c, const struct plan *plan,
		  const struct rewrite_options *o, const char *path,
		  struct rewrite_report *report, struct err *e)
{
	struct inputs in = {
		.c = c,
		.im = c->image,
		.isa = c->isa,
		.move = c->isa->move,
		.plan = plan,
		.options = o,
		.e = e,
	};
	const char *parent = rewrite_made_by(c->image);
	struct survey own;
	int failed;

	*report = (struct rewrite_report){0};
	if (parent)
		return err_set(e, ERR_INPUT,
			       "%s: was already rewritten, by tally %s",
			       c->image->path, parent);
	in.survey = plan && plan->survey ? plan->survey : &own;
	if (in.survey == &own && plan)
		survey_make(&own, c);
	else if (in.survey == &own)
		survey_make_bare(&own, c);
	failed = rewrite_surveyed(&in, path, report);
	if (in.survey == &own)
		survey_free(&own);
	return failed;
}

/* the version in a note of ours in [p, p + n), or NULL */
static const char *note_version(const uint8_t *p, uint64_t n)
{
	Elf64_Nhdr h;

	while (n >= sizeof h) {
		uint64_t name, desc;

		memcpy(&h, p, sizeof h);
		name = ((uint64_t)h.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)h.n_descsz + 3) & ~UINT64_C(3);
		if (name + desc > n - sizeof h)
			break;
		if (h.n_namesz == 6 && h.n_type == NOTE_TALLY_VERSION &&
		    !memcmp(p + sizeof h, "tally", 6) &&
		    memchr(p + sizeof h + name, '\0', h.n_descsz))
			return (const char *)p + sizeof h + name;
		p += sizeof h + name + desc;
		n -= sizeof h + name + desc;
	}
	return NULL;
}

const char *rewrite_made_by(const struct image *im)
{
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr p = phdr_at(im, i);
		const char *version;

		if (p.p_type != PT_NOTE || p.p_offset > im->size ||
		    p.p_filesz > im->size - p.p_offset)
			continue;
		version = note_version(im->bytes + p.p_offset, p.p_filesz);
		if (version)
			return version;
	}
	return NULL;
}
