/*
 * profile_phases: what processes have counted in phases that they named, and
 * what they left out (abi/phases.h), by process and name. What was left out is
 * the phase without a name.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "abi/phases.h"
#include "base/bytes.h"
#include "count/profile/profile_int.h"

enum { MOST = 16384 }; /* of a process; a thread has PHASES at most */

/*
 * The phase of a process by its name, a new one if there is none; those of a
 * process lie together. NULL: there are too many.
 */
static struct profile_phase *phase_of(struct profile *p, uint32_t process,
				      const char *name)
{
	struct profile_phase x = {.process = process, .name = name};
	size_t i = p->phase.n;

	for (; i && p->phase.at[i - 1].process == process; i--)
		if (!strcmp(p->phase.at[i - 1].name, name))
			return &p->phase.at[i - 1];
	if (p->phase.n - i == MOST)
		return NULL;
	x.value = ARENA_ARRAY(&p->arena, uint64_t, p->nevent);
	vec_push(&p->phase, x);
	return &p->phase.at[p->phase.n - 1];
}

/* a name that may be anything is kept as one that can be shown */
static const char *own_name(struct profile *p, const char *name, size_t n)
{
	char *own = arena_string(&p->arena, name, n);

	for (char *s = own; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	return own;
}

/* --- live */

int profile_live_phases(struct profile *p, const struct profile_chunk *k,
			struct err *e)
{
	struct live_phases x;
	struct chunk_phases c;
	uint64_t size, at = k->at;

	if (file_read(&p->file, at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	size = phases_size(c.nevent) - sizeof c;
	if (!c.nevent || c.nevent > RUNNING_EVENTS ||
	    c.chunk.size < sizeof c || c.chunk.size - sizeof c < size ||
	    (p->nevent && p->nevent != c.nevent))
		return err_at(e, p->file.name, at, "phases of %" PRIu32
			      " events that do not fit", c.nevent);
	p->nevent = c.nevent;
	x = (struct live_phases){
		.process = c.chunk.process, .block = c.block, .state = c.state,
		.word = ARENA_ARRAY(&p->arena, uint64_t, size / sizeof *x.word),
	};
	for (unsigned i = 1; i < PHASES && c.name[i][0]; i++)
		x.name[i] = own_name(p, c.name[i],
				     strnlen(c.name[i], PHASE_NAME - 1));
	if (file_read(&p->file, at + sizeof c, x.word, size, e))
		return -1;
	vec_push(&p->live_phases, x);
	return 0;
}

/* has the block a thread that has not ended before its process? */
static bool is_in_use(const struct profile *p, const struct live_phases *x)
{
	for (size_t i = 0; x->block && i < p->thread.n; i++)
		if (p->thread.at[i].process == x->process &&
		    p->thread.at[i].block == x->block && !p->thread.at[i].ended)
			return true;
	return !x->block;
}

/* one row of a block, whose counts are in r; false: there are too many */
static bool add_row(struct profile *p, const struct live_phases *x,
		    unsigned row, const struct live_running *r)
{
	struct profile_phase *q = phase_of(p, x->process,
					   row ? x->name[row] : "");

	if (!q)
		return false;
	for (uint32_t e = 0; e < p->nevent; e++)
		q->value[e] += phases_count(x->word, p->nevent, x->state, row,
					    e, r->value[e]);
	q->open += phases_row(x->state) == row && is_in_use(p, x);
	return true;
}

/* has it ever stopped counting? */
static bool left_out(const struct profile *p, const struct live_phases *x)
{
	bool any = phases_row(x->state) == PHASE_LEFT_OUT;

	for (uint32_t e = 0; e < p->nevent; e++)
		for (unsigned which = 0; which < 2; which++)
			any |= x->word[phases_word(p->nevent, PHASE_LEFT_OUT,
						   which, e)] != 0;
	return any;
}

static bool add_block(struct profile *p, const struct live_phases *x,
		      struct live_running *r)
{
	for (unsigned row = 1; row < PHASES && x->name[row]; row++)
		if (!add_row(p, x, row, r))
			return false;
	if (!left_out(p, x))
		return true;
	if (!add_row(p, x, PHASE_LEFT_OUT, r))
		return false;
	for (uint32_t e = 0; e < p->nevent; e++)
		r->value[e] -= phases_count(x->word, p->nevent, x->state,
					    PHASE_LEFT_OUT, e, r->value[e]);
	return true;
}

/* by process, of each by block */
static int by_process(const void *a, const void *b)
{
	const struct live_phases *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

int profile_live_phases_end(struct profile *p, struct err *e)
{
	if (p->live_phases.n)
		qsort(p->live_phases.at, p->live_phases.n,
		      sizeof *p->live_phases.at, by_process);
	for (size_t i = 0; i < p->live_phases.n; i++) {
		const struct live_phases *x = &p->live_phases.at[i];
		struct live_running *r =
			profile_running_of(p, x->process, x->block);

		if (r && profile_has_process(p, x->process) &&
		    !add_block(p, x, r))
			return err_set(e, ERR_INPUT, "%s: process %" PRIu32
				       " has more than %d phases",
				       p->file.name, x->process, MOST);
	}
	vec_free(&p->live_phases);
	return 0;
}

/* --- finished

   of each: process, how many threads were in it, bytes of the name, the name,
   values. LEB128 */

const struct profile_phase *
profile_phase_of(const struct profile *p, const struct profile_phase *like)
{
	for (size_t i = 0; i < p->phase.n; i++)
		if (p->phase.at[i].process == like->process &&
		    !strcmp(p->phase.at[i].name, like->name))
			return &p->phase.at[i];
	return NULL;
}

void profile_pack_phases(const struct profile *p, const struct profile *minus,
			 buffer *out)
{
	for (size_t i = 0; i < p->phase.n; i++) {
		const struct profile_phase *x = &p->phase.at[i];
		const struct profile_phase *less =
			minus ? profile_phase_of(minus, x) : NULL;

		buffer_uleb(out, x->process);
		buffer_uleb(out, x->open);
		buffer_uleb(out, strlen(x->name));
		buffer_bytes(out, x->name, strlen(x->name));
		for (uint32_t k = 0; k < p->nevent; k++)
			buffer_uleb(out, x->value[k] -
					 (less ? less->value[k] : 0));
	}
}

static bool unpack_phase(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), open = bytes_uleb(b);
	uint64_t n = bytes_uleb(b);
	const uint8_t *name = n < PHASE_NAME ? bytes_take(b, n) : NULL;
	char text[PHASE_NAME] = "";
	struct profile_phase *x;

	if (!name || b->bad || (process | open) > UINT32_MAX ||
	    !profile_has_process(p, (uint32_t)process))
		return false;
	memcpy(text, name, n);
	x = phase_of(p, (uint32_t)process, own_name(p, text, n));
	if (!x)
		return false;
	x->open = (uint32_t)open;
	for (uint32_t k = 0; k < p->nevent; k++)
		x->value[k] = bytes_uleb(b);
	return !b->bad;
}

int profile_unpack_phases(struct profile *p, uint64_t at, const buffer *all,
			  struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	bool good = p->nevent && !p->phase.n;

	while (good && bytes_left(&b))
		good = unpack_phase(p, &b);
	return good ? 0 :
		      err_at(e, p->file.name, at, "its phases are broken");
}

bool profile_phases_follow(const struct profile *p,
			   const struct profile *minus)
{
	for (size_t i = 0; i < minus->phase.n; i++) {
		const struct profile_phase *was = &minus->phase.at[i];
		const struct profile_phase *x = profile_phase_of(p, was);

		for (uint32_t k = 0; x && k < p->nevent; k++)
			if (was->value[k] > x->value[k])
				return false;
		if (!x)
			return false;
	}
	return true;
}
