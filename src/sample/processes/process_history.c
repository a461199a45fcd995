/* process_history: see process_history.h. */
#include "sample/processes/process_history.h"

#include "base/bisect.h"
#include "sample/bpf/four_way.h"

/* units of birth by which the record of a fork may be late: a second */
enum { LATE = 64 };
/* of a space; what maps over itself more often is not looked at in detail */
enum { REMAPPED_MOST = 1024 };

static uint32_t birth_at(uint64_t time)
{
	return (uint32_t)(time >> FOUR_WAY_BIRTH_UNIT);
}

void history_end(struct history *p, struct space *s)
{
	struct space over = *s;

	if (!p->kept || !*s->name) {
		space_clear(s);
		return;
	}
	over.until = p->generation;
	vec_push(&p->v, over);
	*s = (struct space){.pid = over.pid,
			    .exec = over.exec,
			    .birth = over.birth,
			    .numbered = over.numbered,
			    .before = p->first + (uint32_t)p->v.n};
}

void history_exec(struct history *p, struct space *s)
{
	history_end(p, s);
	s->exec++;
}

void history_child(struct space *s, const struct space *parent, uint64_t time)
{
	s->numbered = parent && parent->numbered;
	s->exec = parent ? parent->exec : 0;
	s->birth = birth_at(time);
}

/* how much later a space was seen to begin, than it did; LATE: too much */
static uint32_t lateness(const struct space *s, uint32_t exec,
		    uint32_t birth)
{
	uint32_t mask = FOUR_WAY_MASK(FOUR_WAY_EXEC_BITS);
	uint32_t late = (s->birth - birth) &
			(uint32_t)FOUR_WAY_MASK(FOUR_WAY_BIRTH_BITS);

	if (!s->numbered || (s->exec ^ exec) & mask)
		return LATE;
	return late < LATE ? late : LATE;
}

bool history_number(struct history *p, struct space *s, uint32_t exec,
		    uint32_t birth)
{
	bool same = !s->numbered || lateness(s, exec, birth) < LATE;

	if (!same)
		history_end(p, s);
	s->exec = exec;
	s->birth = birth;
	s->numbered = true;
	return same;
}

/* the part of a mapping that another one is put over; may be empty */
static struct mapping covered(const struct mapping *was,
			      const struct mapping *by)
{
	struct mapping m = *was;

	if (m.end > by->end)
		m.end = by->end;
	if (m.start < by->start) {
		m.offset += by->start - m.start;
		m.start = by->start;
	}
	return m;
}

/* do both say the same of addresses? */
static bool agree(const struct mapping *a, const struct mapping *b)
{
	return a->image == b->image &&
	       a->offset - a->start == b->offset - b->start;
}

void history_remap(struct history *p, struct space *s, const struct mapping *m,
		   uint64_t time)
{
	size_t i;

	if (!p->kept)
		return;
	bisect(i, s->map.n, s->map.at[i].end <= m->start);
	for (; i < s->map.n && s->map.at[i].start < m->end; i++) {
		struct remapped t = {covered(&s->map.at[i], m), time,
				     p->generation};

		if (t.was.start >= t.was.end || agree(&t.was, m))
			continue;
		p->remapped = true;
		if (s->remapped.n < REMAPPED_MOST)
			vec_push(&s->remapped, t);
		else
			s->blurred = p->generation + 1;
	}
}

/* what was remapped is in the order of time; what is there now is the last */
const struct mapping *history_look(const struct space *s, uint64_t addr,
				   uint64_t from, uint64_t to, bool *remapped)
{
	*remapped = s->blurred;
	if (*remapped)
		return NULL;
	for (size_t i = 0; i < s->remapped.n; i++) {
		const struct remapped *t = &s->remapped.at[i];

		if (addr < t->was.start || addr >= t->was.end || t->time < from)
			continue;
		*remapped = t->time <= to;
		return *remapped ? NULL : &t->was;
	}
	return space_find(s, addr);
}

/* the space that had the pid before, or NULL */
static struct space *before(struct history *p, const struct space *s)
{
	return s->before > p->first ? &p->v.at[s->before - p->first - 1] : NULL;
}

struct space *history_find(struct history *p, const struct spaces *all,
			   uint32_t pid, uint32_t exec, uint32_t birth)
{
	struct space *s = space_of(all, pid), *best = NULL;
	uint32_t least = LATE;

	for (; s; s = before(p, s)) {
		uint32_t late = lateness(s, exec, birth);

		/* after 256 execs both may have the same number: not known */
		if (late == least)
			best = NULL;
		if (late < least) {
			least = late;
			best = s;
		}
	}
	return best;
}

bool history_has_samples(const struct history *p, uint32_t generation)
{
	return p->kept && generation + 1 >= p->generation;
}

/* forgets what was remapped so long ago that it does not matter */
static void mend(const struct history *p, struct space *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->remapped.n; i++)
		if (history_has_samples(p, s->remapped.at[i].until))
			s->remapped.at[n++] = s->remapped.at[i];
	s->remapped.n = n;
	if (!n)
		vec_free(&s->remapped);
	if (s->blurred && !history_has_samples(p, s->blurred - 1))
		s->blurred = 0;
}

void history_turn(struct history *p, struct spaces *s)
{
	size_t gone = 0;

	p->generation++;
	while (gone < p->v.n && !history_has_samples(p, p->v.at[gone].until))
		space_free(&p->v.at[gone++]);
	p->first += (uint32_t)gone;
	p->v.n -= gone;
	if (gone && p->v.n)
		memmove(p->v.at, p->v.at + gone, p->v.n * sizeof *p->v.at);
	for (size_t i = 0; i < s->v.n; i++)
		mend(p, &s->v.at[i]);
}

void history_free(struct history *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		space_free(&p->v.at[i]);
	vec_free(&p->v);
}
