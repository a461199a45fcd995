/* maker: see maker.h. */
#include "sample/maker.h"

#include <string.h>
#include <unistd.h>

#include "sample/proc.h"

enum {
	HITS = 1 << 16,	    /* that wait: three megabytes */
	NAMELESS = 1 << 14, /* addresses that may get a name later */
};

struct maker *maker_new(uint32_t pid)
{
	struct maker *m = NEW_ARRAY(struct maker, 1);

	*m = (struct maker){.pid = pid, .map = -1, .dump.fd = -1};
	return m;
}

void maker_map(struct maker *m, int fd)
{
	if (m->map >= 0)
		close(m->map);
	m->map = fd;
}

/* a program maps it once; who executes another may begin a new one */
int maker_dump(struct maker *m, const char *path, uint64_t inode,
	       struct err *e)
{
	if (m->dump.fd >= 0 && m->dump.inode == inode)
		return 0;
	jitdump_close(&m->dump);
	return jitdump_open(&m->dump, m->pid, path, inode, e);
}

bool maker_is_full(const struct maker *m)
{
	return m->hit.n >= HITS;
}

static void settle_one(struct maker *m, const struct made_hit *x,
		       void (*fn)(void *arg, const struct made_hit *x,
				  bool placed, uint64_t offset), void *arg)
{
	struct jitdump_code *c = jitdump_find(&m->dump, x->address, x->from,
					      x->to);

	if (c && !c->alone) {
		c->by_place = true;
		fn(arg, x, true, x->address - c->start + c->place);
		return;
	}
	if (c)
		c->by_address = true;
	else if (m->nameless.n < NAMELESS)
		vec_push(&m->nameless, x->address);
	fn(arg, x, false, x->address);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* who has a name by now, or will have none; each is there once */
static void name_late(struct maker *m)
{
	size_t n = 0;

	mem_sort(m->nameless.at, m->nameless.n, sizeof *m->nameless.at,
		 by_value);
	for (size_t i = 0; i < m->nameless.n; i++) {
		uint64_t address = m->nameless.at[i];
		struct jitdump_code *c = jitdump_find(&m->dump, address,
						      UINT64_MAX, UINT64_MAX);

		if (c && c->alone)
			c->by_address = true;
		else if (!c && (!n || m->nameless.at[n - 1] != address))
			m->nameless.at[n++] = address;
	}
	m->nameless.n = n;
}

void maker_settle(struct maker *m,
		  void (*fn)(void *arg, const struct made_hit *x, bool placed,
			     uint64_t offset), void *arg)
{
	jitdump_read(&m->dump, !proc_is_alive(m->pid));
	name_late(m);
	for (size_t i = 0; i < m->hit.n; i++)
		settle_one(m, &m->hit.at[i], fn, arg);
	m->hit.n = 0;
}

int maker_each_name(const struct maker *m, bool placed,
		    int (*fn)(void *arg, const struct stored_procedure *p),
		    void *arg)
{
	char name[JITDUMP_NAME];
	int result = 0;

	for (size_t i = 0; !result && i < m->dump.code.n; i++) {
		const struct jitdump_code *c = &m->dump.code.at[i];
		uint64_t start = placed ? c->place : c->start;
		struct stored_procedure p = {start, start + c->end - c->start,
					     name};

		if ((placed ? c->by_place : c->by_address) &&
		    jitdump_name(&m->dump, c, name))
			result = fn(arg, &p);
	}
	return result;
}

void maker_free(struct maker *m)
{
	jitdump_close(&m->dump);
	if (m->map >= 0)
		close(m->map);
	vec_free(&m->hit);
	vec_free(&m->nameless);
	mem_free(m);
}
