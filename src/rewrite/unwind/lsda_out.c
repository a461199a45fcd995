/* lsda_out: see lsda_out.h. */
#include "rewrite/unwind/lsda_out.h"

#include "base/bisect.h"
#include "base/dict.h"

/*
 * Numbers read per byte of a table's actions and lists: lists may share their
 * tails, and a hostile table could make us read one tail over and over.
 */
enum { READS_PER_BYTE = 64 };

static const char undecodable[] = "its exception table does not decode";

/* an exception table while it is read */
struct reading {
	const struct lsda *lsda;
	struct dict seen; /* offsets of actions */
	uint64_t actions_end, lists_end; /* addresses */
	uint64_t ntypes;
	uint64_t budget;
};

/* the window [from, to) of the bytes behind the call sites */
static struct bytes rest_window(const struct lsda *l, uint64_t from,
				uint64_t to)
{
	struct bytes b = l->rest;

	bytes_take(&b, from - b.addr);
	return bytes_sub(&b, to - from);
}

/* a cursor at an address behind the call sites; bad if it is not there */
static struct bytes rest_at(const struct lsda *l, uint64_t addr)
{
	struct bytes b = l->rest;

	if (addr < b.addr)
		b.bad = true;
	else
		bytes_take(&b, addr - b.addr);
	return b;
}

/* reads the list of types of a negative filter; false if it is none */
static bool read_list(struct reading *r, int64_t filter)
{
	struct bytes b = rest_at(r->lsda, r->lsda->types - (uint64_t)filter -
						  1);
	uint64_t type;

	if (!r->lsda->types)
		return false;
	do {
		type = bytes_uleb(&b);
		if (b.bad || !r->budget--)
			return false;
		if (type > r->ntypes)
			r->ntypes = type;
	} while (type);
	if (bytes_addr(&b) > r->lists_end)
		r->lists_end = bytes_addr(&b);
	return true;
}

/* reads a chain of actions; false if it does not decode */
static bool read_actions(struct reading *r, uint64_t action)
{
	uint64_t at = r->lsda->rest.addr + action - 1, next;

	while (dict_get(&r->seen, at) == DICT_NONE) {
		struct bytes b = rest_at(r->lsda, at);
		int64_t filter = (int64_t)bytes_sleb(&b);
		uint64_t here = bytes_addr(&b);

		next = bytes_sleb(&b);
		if (b.bad || !r->budget--)
			return false;
		dict_put(&r->seen, at, 0);
		if (bytes_addr(&b) > r->actions_end)
			r->actions_end = bytes_addr(&b);
		if (filter < 0 && !read_list(r, filter))
			return false;
		if (filter > 0 && (uint64_t)filter > r->ntypes)
			r->ntypes = (uint64_t)filter;
		if (!next)
			break;
		at = here + next;
	}
	return true;
}

/* bytes of a pointer to a type, 0 if we cannot write that encoding anew */
static unsigned type_size(uint8_t encoding)
{
	uint8_t base = encoding & POINTER_BASE;

	if (base != POINTER_ABSOLUTE && base != POINTER_PCREL)
		return 0;
	switch (encoding & POINTER_FORMAT) {
	case POINTER_UDATA2:
	case POINTER_SDATA2:
		return 2;
	case POINTER_UDATA4:
	case POINTER_SDATA4:
		return 4;
	case POINTER_ABSOLUTE:
	case POINTER_SIGNED:
	case POINTER_UDATA8:
	case POINTER_SDATA8:
		return 8;
	default:
		return 0;
	}
}

/* the loader writes to [start, end) */
static bool is_relocated(const struct image *im, uint64_t start, uint64_t end)
{
	for (size_t i = image_reloc_from(im, start);
	     i < im->nreloc && im->reloc[i].place < end; i++)
		if (!im->reloc[i].text)
			return true;
	return false;
}

/* what was read becomes l; NULL or why it cannot be written anew */
static const char *reading_end(const struct reading *r, struct lsda_in *l)
{
	const struct lsda *from = r->lsda;
	unsigned size = type_size(from->type_encoding);
	uint64_t start = from->rest.addr, types;

	l->actions = rest_window(from, start, r->actions_end);
	l->type_encoding = POINTER_OMIT;
	l->types = l->lists = bytes_window(NULL, 0, 0);
	if (!r->ntypes && r->lists_end == from->types)
		return NULL;
	if (from->type_encoding == POINTER_OMIT)
		return undecodable;
	if (!size)
		return "its exception table has types in an unusual encoding";
	if (from->types < r->actions_end ||
	    from->types - start > from->rest.n ||
	    r->ntypes > (from->types - r->actions_end) / size)
		return undecodable;
	types = from->types - r->ntypes * size;
	if (is_relocated(from->im, types, from->types))
		return "its exception table has types that are relocated";
	l->type_encoding = from->type_encoding;
	l->types = rest_window(from, types, from->types);
	l->lists = rest_window(from, from->types, r->lists_end);
	return NULL;
}

/* reads all call sites and what they lead to */
static bool read_sites(struct reading *r, struct lsda *l, struct lsda_in *to)
{
	struct call_site site;

	while (bytes_left(&l->table)) {
		if (!lsda_next(l, &site) ||
		    (site.action && !read_actions(r, site.action)))
			return false;
		vec_push(&to->site, site);
	}
	return true;
}

const char *lsda_read(struct lsda_in *l, const struct image *im,
		      const struct fde *f)
{
	struct lsda from;
	struct reading r = {.lsda = &from};
	const char *reason = undecodable;

	l->site.n = 0;
	if (f->lsda_end == f->lsda)
		return "its exception table is another procedure's too";
	if (!lsda_open(&from, im, f))
		return undecodable;
	r.actions_end = from.rest.addr;
	r.lists_end = from.types;
	r.budget = READS_PER_BYTE * (uint64_t)from.rest.n;
	if (read_sites(&r, &from, l))
		reason = reading_end(&r, l);
	dict_free(&r.seen);
	return reason;
}

void lsda_free(struct lsda_in *l)
{
	vec_free(&l->site);
}

/* how the call-site table is encoded */
struct form {
	uint8_t encoding;
	bool explicit;	   /* LPStart is given */
	uint64_t pad_base; /* LPStart */
};

/* call sites of the new code: new addresses */
typedef VEC(struct call_site) new_sites;

/* the part [start, end) of a call site, if anything of it is in the part */
static void add_piece(new_sites *out, const struct place *p, uint64_t start,
		      uint64_t end, uint64_t pad, uint64_t action)
{
	struct call_site s = {.pad = pad, .action = action};

	if (start == end)
		return;
	s.start = place_entry(p, start);
	s.end = place_end(p, end);
	if (s.end > s.start)
		vec_push(out, s);
}

/*
 * A call site of the new code; calls in it whose exceptions land in a stub of
 * their own (struct landing) are call sites of their own.
 */
static void add_new_site(new_sites *out, const struct call_site *s,
			 const struct moves *m, const struct place *p)
{
	const struct landing *l = m->landing.at;
	uint64_t pad = s->pad ? moves_pad(m, s->pad) : 0, at = s->start;
	size_t i;

	bisect(i, m->landing.n, l[i].from < s->start);
	for (; s->pad && i < m->landing.n && l[i].from < s->end; i++) {
		if (l[i].pad != s->pad || l[i].from < at)
			continue;
		add_piece(out, p, at, l[i].from, pad, s->action);
		at = l[i].end < s->end ? l[i].end : s->end;
		add_piece(out, p, l[i].from, at, l[i].addr, s->action);
	}
	add_piece(out, p, at, s->end, pad, s->action);
}

/* the form for these landing pads; see lsda_out.h */
static struct form form_for(const new_sites *sites, const struct place *p)
{
	uint64_t start = p->moved->start, lowest = UINT64_MAX;
	struct form f = {.encoding = POINTER_ULEB, .pad_base = start};

	for (size_t i = 0; i < sites->n; i++) {
		uint64_t pad = sites->at[i].pad;

		if (!pad)
			continue;
		if (pad < lowest)
			lowest = pad;
		f.explicit |= pad == start;
	}
	if (f.explicit) {
		f.encoding = POINTER_UDATA4;
		f.pad_base = lowest - 1;
	} else if (lowest < start) {
		f.encoding = POINTER_SDATA4;
	}
	return f;
}

/* one number of a call site; false if it does not fit */
static bool put_number(buffer *out, uint8_t encoding, uint64_t value)
{
	if (encoding == POINTER_ULEB)
		buffer_uleb(out, value);
	else
		buffer_uint(out, 4, value);
	return encoding == POINTER_SDATA4 ?
		       (int64_t)value == (int32_t)value :
		       value <= UINT32_MAX;
}

static bool put_site(buffer *out, const struct form *f,
		     const struct call_site *s, const struct place *p)
{
	bool fits = put_number(out, f->encoding, s->start - p->moved->start) &&
		    put_number(out, f->encoding, s->end - s->start) &&
		    put_number(out, f->encoding,
			       s->pad ? s->pad - f->pad_base : 0);

	buffer_uleb(out, s->action);
	return fits;
}

/* the encoding that the types get: two bytes never reach anything */
static uint8_t new_type_encoding(uint8_t encoding)
{
	uint8_t format = encoding & POINTER_FORMAT;

	if ((encoding & POINTER_BASE) != POINTER_PCREL)
		return encoding;
	return (encoding & (POINTER_BASE | POINTER_INDIRECT)) |
	       (type_size(encoding) == 8 ? format : POINTER_SDATA4);
}

/* the types, encoded for their new place */
static bool put_types(buffer *out, uint64_t base, const struct lsda_in *l,
		      const struct image *im)
{
	static const struct pointer_base none;
	uint8_t direct = l->type_encoding & POINTER_DIRECT;
	unsigned size = type_size(new_type_encoding(l->type_encoding));
	struct bytes b = l->types;
	bool fits = true;

	while (bytes_left(&b)) {
		uint64_t v;

		if (!pointer_read(&b, im, direct, &none, &v))
			return false;
		if (v && (direct & POINTER_BASE) == POINTER_PCREL) {
			v -= base + out->n;
			fits &= size == 8 || (int64_t)v == (int32_t)v;
		}
		buffer_uint(out, size, v);
	}
	return fits;
}

/*
 * The distance to TType, which the types in front of it make a multiple of
 * their size, and what lies between. The number's own length moves what is
 * behind it.
 */
static void put_sites(buffer *out, const struct lsda_in *l, uint64_t base,
		      const struct form *f, const buffer *sites)
{
	uint8_t encoding = new_type_encoding(l->type_encoding);
	uint64_t fixed = 1 + uleb_size(sites->n) + sites->n + l->actions.n;
	unsigned size = 0, number = 0;
	uint64_t pad = 0, distance = 0, types;

	buffer_uint(out, 1, encoding);
	if (encoding != POINTER_OMIT) {
		size = type_size(encoding);
		types = l->types.n / type_size(l->type_encoding) * size;
		do {
			number++;
			pad = -(base + out->n + number + fixed) & (size - 1);
			distance = fixed + pad + types;
		} while (uleb_size(distance) > number);
		buffer_uleb_sized(out, distance, number);
	}
	buffer_uint(out, 1, f->encoding);
	buffer_uleb(out, sites->n);
	buffer_bytes(out, sites->at, sites->n);
	buffer_bytes(out, l->actions.p, l->actions.n);
	for (; pad; pad--)
		buffer_uint(out, 1, 0);
}

/* the call-site table, in the form that it needs */
static bool put_site_table(buffer *out, struct form *f,
			   const struct lsda_in *l, const struct moves *m,
			   const struct place *p)
{
	new_sites sites = {0};
	bool fits = true;

	for (size_t i = 0; i < l->site.n; i++)
		add_new_site(&sites, &l->site.at[i], m, p);
	*f = form_for(&sites, p);
	for (size_t i = 0; i < sites.n; i++)
		fits &= put_site(out, f, &sites.at[i], p);
	vec_free(&sites);
	return fits;
}

bool lsda_write(buffer *out, uint64_t base, const struct lsda_in *l,
		const struct image *im, const struct moves *m,
		const struct place *p)
{
	struct form f;
	buffer sites = {0};
	bool fits = put_site_table(&sites, &f, l, m, p);

	buffer_uint(out, 1, f.explicit ? POINTER_PCREL | POINTER_SDATA4 :
					 POINTER_OMIT);
	if (f.explicit) {
		uint64_t v = f.pad_base - (base + out->n);

		buffer_uint(out, 4, v);
		fits &= (int64_t)v == (int32_t)v;
	}
	put_sites(out, l, base, &f, &sites);
	vec_free(&sites);
	if (l->type_encoding != POINTER_OMIT) {
		fits &= put_types(out, base, l, im);
		buffer_bytes(out, l->lists.p, l->lists.n);
	}
	return fits;
}
