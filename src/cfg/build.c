/* build: the order of the passes. See build.h for what each needs. */
#include "cfg/build.h"

#include <inttypes.h>

#include "base/debug.h"

/* switches within switches, in code without unwind tables */
enum { TABLE_ROUNDS = 6 };

/* procedures, blocks and edges with all that is known */
static void build_finish(struct build *b)
{
	mem_free(b->noreturn);
	b->noreturn = NULL;
	merge_pieces(b);
	block_build(b);
	noreturn_find(b);
	noreturn_apply(b);
}

/* all that was found out about jumps, and what followed from it */
static void build_forget_jumps(struct build *b)
{
	for (size_t i = 0; i < b->jump.n; i++) {
		vec_free(&b->jump.at[i].target);
		vec_free(&b->jump.at[i].wanted);
	}
	b->jump.n = 0;
	mem_free(b->noreturn);
	b->noreturn = NULL;
}

/* everything from the bytes to c's arrays */
static void build_run(struct build *b)
{
	progress_at(b->progress, "decoding", 0, 0);
	landing_list(b);
	sweep_vouched(b);
	pieces_index(b);
	descend_repair(b);
	pieces_index(b);
	discover_code(b);
	/* where no unwind table covers the code, cases of a switch are only
	   found through the table; they may have tables of their own */
	for (unsigned i = 0; i < TABLE_ROUNDS; i++) {
		progress_at(b->progress, "blocks", 0, 0);
		discover_leaders(b);
		discover_split_stubs(b);
		merge_pieces(b);
		block_build(b);
		noreturn_find(b);
		dispatch_resolve_all(b);
		if (i + 1 == TABLE_ROUNDS || !discover_wanted(b))
			break;
		build_forget_jumps(b);
	}
	progress_at(b->progress, "procedures", 0, 0);
	build_finish(b);
	if (data_in_text_remove(b)) {
		pieces_index(b);
		discover_entries(b);
		build_finish(b);
	}
	open_find(b);
	dispatch_export(b);
}

/* what became of the image (TALLY_DEBUG) */
static void tell(const struct cfg *c)
{
	const char *path = c->image->path;
	char name[64];

	debug(DEBUG_CFG, "%s: %zu procedures, %zu blocks, %zu indirect jumps; "
	      "blocks have %" PRIu64 " of %" PRIu64 " bytes", path, c->proc.n,
	      c->block.n, c->dispatch.n, c->covered_bytes, c->text_bytes);
	for (size_t i = 0; i < c->dispatch.n; i++) {
		const struct dispatch *d = &c->dispatch.at[i];

		if (d->status == DISPATCH_UNKNOWN)
			debug(DEBUG_CFG, "%s: 0x%" PRIx64 " in %s: the jump is "
			      "not understood: %s", path, d->addr,
			      cfg_proc_name(c, cfg_block_proc(c, d->block),
					    name, sizeof name), d->reason);
	}
	for (size_t i = 0; i < c->region.n; i++)
		debug(DEBUG_CFG, "%s: 0x%" PRIx64 " to 0x%" PRIx64 ": no "
		      "blocks: %s", path, c->region.at[i].start,
		      c->region.at[i].end, c->region.at[i].reason);
}

static void build_free(struct build *b)
{
	vec_free(&b->piece);
	vec_free(&b->found.xfer);
	vec_free(&b->found.ref);
	vec_free(&b->site);
	build_forget_jumps(b);
	vec_free(&b->jump);
	vec_free(&b->refusal);
	vec_free(&b->stub);
	gap_scan_free(&b->outside);
	mem_free(b->piece_index);
	code_free(&b->code);
}

int cfg_build_watched(struct cfg *c, const struct image *im,
		      const struct unwind *u, struct progress *p,
		      struct err *e)
{
	struct build b = {.cfg = c, .im = im, .unwind = u, .progress = p};
	const char *pinned;

	*c = (struct cfg){.image = im, .unwind = u};
	c->isa = b.isa = isa_for_elf(im->machine);
	if (!c->isa)
		return err_set(e, ERR_INPUT, "%s: machine %u is not known",
			       im->path, im->machine);
	if (code_init(&b.code, im, b.isa, e))
		return -1;
	pinned = pinned_find(c);
	if (!pinned) {
		build_run(&b);
		pinned_mark(c);
	}
	region_list(&b, pinned);
	build_free(&b);
	if (debug_is_on(DEBUG_CFG))
		tell(c);
	return 0;
}

int cfg_build(struct cfg *c, const struct image *im, const struct unwind *u,
	      struct err *e)
{
	return cfg_build_watched(c, im, u, NULL, e);
}
