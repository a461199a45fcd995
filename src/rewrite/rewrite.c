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

/* jumps of stubs, and over them */
static size_t jumps_of(const struct rewriter *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->sites.stub.n; i++) {
		const struct site *x = site_of_stub(&r->sites, i);

		n += !x->leads || x->over;
	}
	return n;
}

/* what the new code is made of */
static void count_new(const struct rewriter *r, struct rewrite_report *n)
{
	n->new_bytes = r->text_end - r->text_addr;
	for (int k = 0; k < SPOT_KINDS; k++)
		for (size_t i = 0; i < r->sites.at[k].n; i++)
			n->inserted_bytes += r->sites.at[k].at[i].size;
	n->jump_bytes = (uint64_t)r->move->jump_size * jumps_of(r);
	for (size_t i = 0; i < r->tables.copy.n; i++)
		n->table_bytes +=
			(uint64_t)TABLE_ENTRY *
			r->c->dispatch.at[r->tables.copy.at[i].dispatch].count;
	n->link_bytes = plt_stubs_size(&r->links, r->c);
	n->support_bytes = r->plan ? r->plan->support_size : 0;
	n->data_bytes = r->plan ? r->plan->data_size : 0;
}

static void count_moved(struct rewriter *r)
{
	r->report->text_bytes = r->c->text_bytes;
	for (size_t i = 0; i < r->m.map.span.n; i++)
		r->report->moved_bytes += r->m.map.span.at[i].size;
	if (r->move)
		count_new(r, r->report);
}

/* writes code, and tables again if the room for islands was too small */
static int write_contents(struct rewriter *r)
{
	for (;;) {
		if (text_write(r))
			return -1;
		if (!island_overflow(r))
			return text_finish(r);
		layout_again(r);
		if (file_place_tables(r))
			return -1;
	}
}

/* an task: the tables, as soon as code has its place */
struct placing {
	struct rewriter *r;
	int failed;
};

static void *place_tables(void *arg)
{
	struct placing *p = arg;

	p->failed = file_place_tables(p->r);
	return NULL;
}

/* links are aligned like code */
static uint64_t plt_stubs_addr(const struct rewriter *r)
{
	uint64_t support = r->plan ? r->plan->support_size : 0;

	return (r->support_addr + support + 15) & ~UINT64_C(15);
}

/* what the survey says, to work with */
static void take_survey(struct rewriter *r)
{
	const struct survey *s = r->survey;

	vec_append(&r->m.moved, &s->moves.moved);
	r->m.old_runs = r->m.moved.n &&
			(r->move->hop_size || r->survey->kept);
	vec_append(&r->tables.copy, &s->tables.copy);
	vec_append(&r->tables.part, &s->tables.part);
	vec_append(&r->report->in_place, &s->in_place);
	r->report->tables = (uint32_t)s->tables.copy.n;
	for (size_t i = 0; i < s->labels.table.n; i++)
		r->report->tables += !s->labels.table.at[i].refused;
}

/* in threads, as pages are new */
static void copy_old(void *arg, size_t from, size_t end)
{
	const struct rewriter *r = arg;

	memcpy(r->old + from, r->im->bytes + from, end - from);
}

/* what has to be there before code is written, when all has its place */
static int prepare(struct rewriter *r)
{
	struct placing tables = {.r = r};
	struct task task;

	task_begin(&task, place_tables, &tables, r->m.moved.n >= PREPARE_PARTS);
	old_pools_find(r);
	r->old = mem_alloc(r->im->size);
	parallel_for(copy_old, r, r->im->size, COPY_LEAST);
	property_drop(r);
	task_end(&task);
	return tables.failed;
}

static int rewrite_steps(struct rewriter *r, const char *path)
{
	if (file_place_code(r))
		return -1;
	take_survey(r);
	if (r->o->strict && !r->m.moved.n)
		return err_set(r->e, ERR_INPUT, "%s: no code can be moved: %s",
			       r->im->path,
			       r->report->in_place.n ?
				       r->report->in_place.at[0].reason :
				       "there is none");
	if (sites_make(&r->sites, r->survey, r->plan, r->e))
		return -1;
	edge_code_find(&r->edge_code, r->survey, &r->sites);
	r->report->left_out = r->sites.left_out;
	r->support_addr = r->text_addr;
	plt_stubs_find(&r->links, r->c, plt_stubs_addr(r));
	layout_text(r);
	if (prepare(r) || write_contents(r))
		return -1;
	file_write_constants(r);
	if (dynamic_add(r) || file_write(r, path))
		return -1;
	count_moved(r);
	return 0;
}

/* how old addresses lead to new code */
static void tell_arrivals(const struct rewriter *r)
{
	const struct survey *s = r->survey;
	size_t hops = 0;

	for (size_t i = 0; i < s->trampoline.n; i++)
		hops += s->trampoline.at[i].jump != s->trampoline.at[i].at;
	if (s->trampoline.n)
		debug(DEBUG_REWRITE,
		      "%s: %zu trampolines, %zu of them hops to a jump "
		      "elsewhere",
		      r->im->path, s->trampoline.n, hops);
	else
		debug(DEBUG_REWRITE,
		      "%s: every instruction has a trampoline; %" PRIu32
		      " islands, %" PRIu32 " places that no jump reaches",
		      r->im->path, r->report->islands, r->report->unreached);
}

/* what became of the image (TALLY_DEBUG) */
static void tell(const struct rewriter *r)
{
	const struct rewrite_report *n = r->report;

	debug(DEBUG_REWRITE, "%s: %" PRIu64 " of %" PRIu64 " bytes of code "
	      "move to 0x%" PRIx64 " and become %" PRIu64 ", %" PRIu64 " of "
	      "them inserted", r->im->path, n->moved_bytes, n->text_bytes,
	      r->text_addr, n->new_bytes, n->inserted_bytes);
	if (n->moved_bytes)
		tell_arrivals(r);
	if (n->left_out)
		debug(DEBUG_REWRITE, "%s: %zu insertions are left out: their "
		      "code stays", r->im->path, n->left_out);
	for (size_t i = 0; i < n->in_place.n; i++)
		debug(DEBUG_REWRITE, "%s: 0x%" PRIx64 " to 0x%" PRIx64
		      " stays in place: %s", r->im->path,
		      n->in_place.at[i].start, n->in_place.at[i].end,
		      n->in_place.at[i].reason);
}

static void rewriter_free(struct rewriter *r)
{
	sites_free(&r->sites);
	vec_free(&r->edge_code.lead);
	tables_free(&r->tables);
	vec_free(&r->links.link);
	moves_free(&r->m);
	vec_free(&r->literal);
	vec_free(&r->pool);
	vec_free(&r->island);
	vec_free(&r->table_bytes);
	mem_free(r->old);
	mem_free(r->text);
	unwind_out_free(&r->unwind);
}

int rewrite_image(const struct cfg *c, const struct plan *plan,
		  const struct rewrite_options *o, const char *path,
		  struct rewrite_report *report, struct err *e)
{
	struct rewriter r = {
		.c = c,
		.im = c->image,
		.isa = c->isa,
		.move = c->isa->move,
		.plan = plan,
		.o = o,
		.report = report,
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
	r.survey = plan && plan->survey ? plan->survey : &own;
	if (r.survey == &own && plan)
		survey_make(&own, c);
	else if (r.survey == &own)
		survey_make_bare(&own, c);
	failed = rewrite_steps(&r, path);
	if (!failed && debug_is_on(DEBUG_REWRITE))
		tell(&r);
	rewriter_free(&r);
	if (r.survey == &own)
		survey_free(&own);
	if (failed)
		rewrite_report_free(report);
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
