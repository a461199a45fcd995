/*
 * file: the new ELF file.
 *
 *	the old file up to the end of its segments, text patched
 *	-- a hole, so that file offsets follow addresses --
 *	code    R-X   program headers, islands, new text
 *	tables  R--   our note, unwind tables
 *	data    RW-   zeroed memory of the plan, nothing in the file
 *	sections: those that are loaded, ours, symbols
 *	what was appended to the old file
 *
 * Program headers stand at a file offset that is as far from the file's start
 * as their address is from the image's: old kernels and emulators compute the
 * one from the other. The data segment is always there
 * and last: emulators put the heap behind the last writable segment.
 *
 * Debug sections describe the old addresses and are left out: they would send
 * debuggers to the trampolines. Reports read them from the original.
 */
#include "base/parallel.h"
#include "base/atomic_file.h"
#include "rewrite/rewrite_int.h"
#include "rewrite/output/reverse_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NEW_LOADS = 3,	 /* code, tables, data */
	/* those, our note; unwind tables and variables of threads if there
	   were none */
	NEW_HEADERS = 6,
	TABLE_ALIGN = 16,
	TAIL_PARTS = 1000, /* fewer are not worth a thread */
};

/* programs end below this, and new code has to be near the old */
#define ADDRESS_MAX (UINT64_C(1) << 46)
#define SPAN_MAX (UINT64_C(4) << 30)

static uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) / to * to;
}

static Elf64_Ehdr old_header(const struct rewriter *r)
{
	Elf64_Ehdr h;

	memcpy(&h, r->im->bytes, sizeof h);
	return h;
}

/* what is between addresses and file offsets of new segments */
static uint64_t load_base(const struct rewriter *r)
{
	return r->im->segment[0].start - r->im->segment[0].offset;
}

static uint64_t file_offset(const struct rewriter *r, uint64_t addr)
{
	return addr - load_base(r);
}

/* bytes of the old file that its segments use */
static uint64_t old_file_end(const struct rewriter *r)
{
	uint64_t end = 0;

	for (size_t i = 0; i < r->im->nsegment; i++) {
		const struct segment *s = &r->im->segment[i];
		uint64_t e = s->offset + (s->file_end - s->start);

		end = e > end ? e : end;
	}
	return end;
}

static bool same_bytes(const struct segment *s, const struct segment *t)
{
	return s->offset < t->offset + (t->file_end - t->start) &&
	       t->offset < s->offset + (s->file_end - s->start);
}

/* are bytes of code loaded a second time? To change them changes both */
static bool code_is_shared(const struct image *im)
{
	const struct segment *s = im->segment;

	for (size_t i = 0; i < im->nsegment; i++)
		for (size_t k = 0; k < im->nsegment; k++)
			if (i != k && s[i].exec && same_bytes(&s[i], &s[k]))
				return true;
	return false;
}

int file_place_code(struct rewriter *r)
{
	uint64_t end = r->im->segment[r->im->nsegment - 1].end;
	uint64_t used = old_file_end(r) + load_base(r);

	if (code_is_shared(r->im))
		return err_set(r->e, ERR_INPUT,
			       "%s: two segments load the same bytes of code",
			       r->im->path);
	if (end > ADDRESS_MAX || used > ADDRESS_MAX ||
	    end - load_base(r) > SPAN_MAX)
		return err_set(r->e, ERR_INPUT,
			       "%s: its segments, up to 0x%llx, leave no room "
			       "for new code",
			       r->im->path, (unsigned long long)end);
	if (r->im->nphdr + NEW_HEADERS >= PN_XNUM)
		return err_set(r->e, ERR_INPUT, "%s: its %zu program headers "
			       "leave no room for ours",
			       r->im->path, r->im->nphdr);
	r->code_addr = round_up(end > used ? end : used, r->isa->page);
	r->text_addr = r->code_addr + (r->im->nphdr + NEW_HEADERS) *
					      sizeof(Elf64_Phdr);
	r->text_addr = round_up(r->text_addr, 64);
	return 0;
}

/* our note: a name, a type and the version of tally */
static void push_note(struct rewriter *r)
{
	static const char owner[8] = "tally"; /* padded to words */
	static const char version[] = TALLY_VERSION;
	Elf64_Nhdr h = {.n_namesz = 6, .n_descsz = sizeof version,
			.n_type = NOTE_TALLY_VERSION};
	uint8_t note[64] = {0};

	_Static_assert(sizeof version <= 40, "the version is short");
	memcpy(note, &h, sizeof h);
	memcpy(note + sizeof h, owner, sizeof owner);
	memcpy(note + sizeof h + sizeof owner, version, sizeof version);
	r->note_size = (uint32_t)(sizeof h + sizeof owner +
				  round_up(sizeof version, 4));
	for (unsigned i = 0; i < round_up(r->note_size, TABLE_ALIGN); i++)
		vec_push(&r->table_bytes, note[i]);
}

/* the table that leads back, for a plan whose code may have to look there */
static void place_back(struct rewriter *r)
{
	buffer b = {0};

	r->back_addr = r->nback = 0;
	if (!r->plan || !r->survey->kept)
		return;
	reverse_map_table(&r->m, &r->links, r->c, &r->survey->marks,
			  r->code_addr, r->im->segment[0].start, &b);
	while (r->table_bytes.n % TABLE_ALIGN)
		vec_push(&r->table_bytes, 0);
	r->back_addr = r->table_addr + r->table_bytes.n;
	r->nback = b.n / WAY_BACK_ENTRY;
	vec_append(&r->table_bytes, &b);
	vec_free(&b);
}

/* room for the plan's constants, behind the other tables */
static void place_constants(struct rewriter *r)
{
	uint64_t size = r->plan ? r->plan->constant_size : 0;

	while (r->table_bytes.n % TABLE_ALIGN)
		vec_push(&r->table_bytes, 0);
	r->constant_addr = r->table_addr + r->table_bytes.n;
	vec_reserve(&r->table_bytes, size);
	memset(r->table_bytes.at + r->table_bytes.n, 0, size);
	r->table_bytes.n += size;
}

void file_write_constants(struct rewriter *r)
{
	struct plan_bases bases = {.data = r->data_addr,
				   .support = r->support_addr,
				   .constants = r->constant_addr};

	if (r->plan && r->plan->constant_size)
		r->plan->constants(r->plan->ctx, &bases,
				   r->table_bytes.at +
					   (r->constant_addr - r->table_addr));
}

int file_place_tables(struct rewriter *r)
{
	uint64_t at = round_up(r->text_end, r->isa->page), size;

	r->table_addr = at;
	r->table_bytes.n = 0;
	unwind_out_free(&r->unwind);
	push_note(r);
	if (unwind_out_make(&r->unwind, at + r->table_bytes.n, r->im,
			    r->c->unwind, &r->m, r->e))
		return -1;
	vec_append(&r->table_bytes, &r->unwind.bytes);
	tls_place(r);
	place_back(r);
	place_constants(r);
	r->data_addr = round_up(at + r->table_bytes.n, r->isa->page);
	/*
	 * Whole pages: musl's loader gives what is left of a page behind
	 * variables to malloc(), and counters are mapped over all of theirs.
	 */
	size = r->plan && r->plan->data_size ? r->plan->data_size : 1;
	r->data_end = round_up(r->data_addr + size, r->isa->page);
	return 0;
}

/* --- program headers */

typedef VEC(Elf64_Phdr) phdrs;

static void push_load(const struct rewriter *r, phdrs *v, uint64_t start,
		      uint64_t file_size, uint64_t size, uint32_t flags)
{
	Elf64_Phdr p = {
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = file_offset(r, start),
		.p_vaddr = start,
		.p_paddr = start,
		.p_filesz = file_size,
		.p_memsz = size,
		.p_align = r->isa->page,
	};

	vec_push(v, p);
}

static void push_loads(const struct rewriter *r, phdrs *v)
{
	uint64_t code = r->text_end - r->code_addr;

	push_load(r, v, r->code_addr, code, code, PF_R | PF_X);
	push_load(r, v, r->table_addr, r->table_bytes.n, r->table_bytes.n,
		  PF_R);
	push_load(r, v, r->data_addr, 0, r->data_end - r->data_addr,
		  PF_R | PF_W);
}

static void point_at(const struct rewriter *r, Elf64_Phdr *p, uint64_t addr,
		     uint64_t size)
{
	p->p_offset = file_offset(r, addr);
	p->p_vaddr = p->p_paddr = addr;
	p->p_filesz = p->p_memsz = size;
}

static void push_small(const struct rewriter *r, phdrs *v, uint32_t type,
		       uint64_t addr, uint64_t size)
{
	Elf64_Phdr p = {.p_type = type, .p_flags = PF_R, .p_align = 4};

	point_at(r, &p, addr, size);
	vec_push(v, p);
}

/* the header of variables of threads, which was `old` */
static void push_tls(const struct rewriter *r, phdrs *v, Elf64_Phdr old)
{
	tls_header(r, &old);
	old.p_offset = file_offset(r, r->tls_addr);
	vec_push(v, old);
}

/* the old headers with what moved, and ours */
static void make_phdrs(const struct rewriter *r, phdrs *v)
{
	size_t n = r->im->nphdr, last_load = 0;
	bool unwind = false, tls = false;
	size_t table = SIZE_MAX;

	for (size_t i = 0; i < n; i++)
		if (phdr_at(r->im, i).p_type == PT_LOAD)
			last_load = i;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr p = phdr_at(r->im, i);

		if (p.p_type == PT_PHDR)
			table = v->n;
		if (p.p_type == PT_TLS && r->tls_addr) {
			push_tls(r, v, p);
			tls = true;
			continue;
		}
		if (p.p_type == PT_GNU_EH_FRAME && r->unwind.hdr_size) {
			point_at(r, &p, r->unwind.hdr, r->unwind.hdr_size);
			unwind = true;
		}
		vec_push(v, p);
		if (i == last_load)
			push_loads(r, v);
	}
	push_small(r, v, PT_NOTE, r->table_addr, r->note_size);
	if (!unwind && r->unwind.hdr_size)
		push_small(r, v, PT_GNU_EH_FRAME, r->unwind.hdr,
			   r->unwind.hdr_size);
	if (!tls && r->tls_addr)
		push_tls(r, v, (Elf64_Phdr){0});
	if (table != SIZE_MAX)
		point_at(r, &v->at[table], r->code_addr, v->n * sizeof *v->at);
}

/* --- section headers */

struct sections {
	VEC(Elf64_Shdr) at;
	VEC(char) names;
	VEC(uint32_t) renumbered; /* old number -> new, 0 if left out */
};

static uint32_t push_name(struct sections *s, const char *name,
			  const char *suffix)
{
	uint32_t at = (uint32_t)s->names.n;

	for (const char *p = name; *p; p++)
		vec_push(&s->names, *p);
	for (const char *p = suffix; *p; p++)
		vec_push(&s->names, *p);
	vec_push(&s->names, '\0');
	return at;
}

/* tables of the old code that the new ones replace keep another name */
static const char *suffix_of(const struct rewriter *r, const char *name)
{
	bool replaced = !strcmp(name, ".eh_frame") ||
			!strcmp(name, ".eh_frame_hdr");

	return replaced && r->unwind.hdr_size ? ".old" : "";
}

static void copy_sections(const struct rewriter *r, struct sections *s)
{
	Elf64_Ehdr h = old_header(r);

	for (size_t i = 0; i < r->im->nsection; i++) {
		const struct section *sec = &r->im->section[i];
		Elf64_Shdr sh;

		vec_push(&s->renumbered, 0);
		if (sec->type == SHT_NULL || !(sec->flags & SHF_ALLOC))
			continue;
		memcpy(&sh, r->im->bytes + h.e_shoff + (i + 1) * sizeof sh,
		       sizeof sh);
		sh.sh_name = push_name(s, sec->name, suffix_of(r, sec->name));
		s->renumbered.at[i] = (uint32_t)s->at.n;
		vec_push(&s->at, sh);
	}
}

static uint32_t renumbered(const struct sections *s, uint32_t old)
{
	return old && old <= s->renumbered.n ? s->renumbered.at[old - 1] : 0;
}

static void renumber_links(struct sections *s)
{
	for (size_t i = 1; i < s->at.n; i++) {
		Elf64_Shdr *sh = &s->at.at[i];

		sh->sh_link = renumbered(s, sh->sh_link);
		if (sh->sh_flags & SHF_INFO_LINK)
			sh->sh_info = renumbered(s, sh->sh_info);
	}
}

static void push_section(const struct rewriter *r, struct sections *s,
			 const char *name, uint32_t type, uint64_t flags,
			 uint64_t start, uint64_t end)
{
	Elf64_Shdr sh = {
		.sh_name = push_name(s, name, ""),
		.sh_type = type,
		.sh_flags = SHF_ALLOC | flags,
		.sh_addr = start,
		.sh_offset = file_offset(r, start),
		.sh_size = end - start,
		.sh_addralign = 4,
	};

	if (end > start)
		vec_push(&s->at, sh);
}

static void push_own_sections(const struct rewriter *r, struct sections *s)
{
	const struct unwind_out *u = &r->unwind;

	push_section(r, s, WAY_BACK_TEXT, SHT_PROGBITS, SHF_EXECINSTR,
		     r->text_addr, r->text_end);
	push_section(r, s, ".note.tally", SHT_NOTE, 0, r->table_addr,
		     r->table_addr + r->note_size);
	push_section(r, s, ".eh_frame_hdr", SHT_PROGBITS, 0, u->hdr,
		     u->hdr + u->hdr_size);
	push_section(r, s, ".eh_frame", SHT_PROGBITS, 0, u->frame,
		     u->frame + u->frame_size);
	push_section(r, s, ".tally.except", SHT_PROGBITS, 0, u->lsda,
		     u->lsda + u->lsda_size);
	push_section(r, s, ".tally.data", SHT_NOBITS, SHF_WRITE, r->data_addr,
		     r->data_end);
}

/* a section that is not loaded, at the end of the file; returns its number */
static uint16_t push_tail(struct sections *s, const char *name, uint32_t type,
			  uint64_t offset, uint64_t size)
{
	Elf64_Shdr sh = {
		.sh_name = push_name(s, name, ""),
		.sh_type = type,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = type == SHT_SYMTAB ? 8 : 1,
		.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
	};

	vec_push(&s->at, sh);
	return (uint16_t)(s->at.n - 1);
}

/* --- the file */

struct output {
	int fd;
	const char *path;
	struct err *e;
};

static int put(const struct output *o, const void *bytes, uint64_t size,
	       uint64_t offset)
{
	const uint8_t *p = bytes;

	while (size) {
		size_t some = size < 1 << 30 ? size : 1 << 30;
		ssize_t n = pwrite(o->fd, p, some, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(o->e, ERR_MACHINE, "%s: %s", o->path,
				       n ? strerror(errno) : "short write");
		p += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

static int put_section(const struct output *o, struct sections *s,
		       const char *name, const uint8_t *bytes, size_t size,
		       uint64_t *at)
{
	push_tail(s, name, SHT_PROGBITS, *at, size);
	if (put(o, bytes, size, *at))
		return -1;
	*at += size;
	return 0;
}

/* what comes behind everything that is loaded */
struct tail {
	const struct rewriter *r;
	struct sections s;
	struct symbol_table t;
	buffer back; /* from new addresses to old, if the plan wants it */
};

/* an task: makes all of it that needs no place in the file */
static void *tail_make(void *arg)
{
	struct tail *l = arg;
	const struct rewriter *r = l->r;
	Elf64_Shdr none = {0};

	vec_push(&l->s.at, none);
	vec_push(&l->s.names, '\0');
	if (r->im->has_sections)
		copy_sections(r, &l->s);
	renumber_links(&l->s);
	l->t.section = l->s.at.at;
	l->t.nsection = (uint16_t)l->s.at.n;
	symbols_make(&l->t, r, l->t.nsection);
	push_own_sections(r, &l->s);
	if (r->plan && r->plan->reverse_map)
		reverse_map_write(&r->m, &r->links, r->c, &r->survey->marks,
				  &l->back);
	return NULL;
}

static void tail_free(struct tail *l)
{
	vec_free(&l->s.at);
	vec_free(&l->s.names);
	vec_free(&l->s.renumbered);
	vec_free(&l->t.symbols);
	vec_free(&l->t.strings);
	vec_free(&l->back);
}

/* the sections that the plan asks for, from *at on, which moves behind them */
static int put_plan_sections(struct tail *l, const struct output *o,
			     uint64_t *at)
{
	const struct plan *p = l->r->plan;
	const uint8_t *own;
	size_t size;

	if (!p)
		return 0;
	if (p->reverse_map &&
	    put_section(o, &l->s, WAY_BACK_SECTION, l->back.at, l->back.n, at))
		return -1;
	if (!p->section_name)
		return 0;
	own = p->section(p->ctx, &size);
	return put_section(o, &l->s, p->section_name, own, size, at);
}

/* sections and symbols, behind everything that is loaded */
static int put_tail(struct tail *l, const struct output *o, Elf64_Ehdr *h)
{
	const struct rewriter *r = l->r;
	struct sections *s = &l->s;
	uint64_t end = file_offset(r, r->table_addr) + r->table_bytes.n;
	uint64_t at = round_up(end, 16), strings, names;
	uint16_t symtab;

	symtab = push_tail(s, ".symtab", SHT_SYMTAB, at, l->t.symbols.n);
	s->at.at[symtab].sh_link = symtab + 1U;
	s->at.at[symtab].sh_info = l->t.locals;
	strings = at + l->t.symbols.n;
	push_tail(s, ".strtab", SHT_STRTAB, strings, l->t.strings.n);
	names = strings + l->t.strings.n;
	if (put_plan_sections(l, o, &names))
		return -1;
	h->e_shstrndx = push_tail(s, ".shstrtab", SHT_STRTAB, names, 0);
	s->at.at[h->e_shstrndx].sh_size = s->names.n;
	h->e_shoff = round_up(names + s->names.n, 8);
	h->e_shnum = (uint16_t)s->at.n;
	h->e_shentsize = sizeof(Elf64_Shdr);
	if (put(o, l->t.symbols.at, l->t.symbols.n, at) ||
	    put(o, l->t.strings.at, l->t.strings.n, strings) ||
	    put(o, s->names.at, s->names.n, names) ||
	    put(o, s->at.at, s->at.n * sizeof *s->at.at, h->e_shoff))
		return -1;
	return 0;
}

/* the end of all that the headers of the old file tell of */
static uint64_t described_end(const struct rewriter *r)
{
	const struct image *im = r->im;
	uint64_t end = old_file_end(r);
	uint64_t headers = old_header(r).e_shoff +
			   (im->nsection + 1) * sizeof(Elf64_Shdr);

	if (im->has_sections && headers > end)
		end = headers;
	for (size_t i = 0; i < im->nsection; i++) {
		const struct section *s = &im->section[i];

		if (s->offset + s->size > end)
			end = s->offset + s->size;
	}
	return end;
}

/*
 * Some programs read what was appended to their own file, an archive say,
 * from its end or from behind the section headers on.
 */
static int put_appended(const struct rewriter *r, const struct output *o,
			const Elf64_Ehdr *h)
{
	uint64_t from = described_end(r);

	return from < r->im->size ?
		       put(o, r->im->bytes + from, r->im->size - from,
			   h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr)) :
		       0;
}

static int put_segments(const struct rewriter *r, const struct output *o,
			Elf64_Ehdr *h)
{
	phdrs v = {0};
	int failed;

	make_phdrs(r, &v);
	h->e_phoff = file_offset(r, r->code_addr);
	h->e_phnum = (uint16_t)v.n;
	failed = put(o, r->old, old_file_end(r), 0) ||
		 put(o, v.at, v.n * sizeof *v.at, h->e_phoff) ||
		 put(o, r->text, r->text_end - r->text_addr,
		     file_offset(r, r->text_addr)) ||
		 put(o, r->table_bytes.at, r->table_bytes.n,
		     file_offset(r, r->table_addr));
	vec_free(&v);
	return failed ? -1 : 0;
}

static int put_file(const struct rewriter *r, const struct output *o)
{
	Elf64_Ehdr h = old_header(r);
	struct tail tail = {.r = r};
	struct task task;
	struct stat st;
	int failed;

	if (r->plan && r->plan->entry)
		h.e_entry = r->support_addr + r->plan->entry;
	task_begin(&task, tail_make, &tail, r->m.moved.n >= TAIL_PARTS);
	failed = put_segments(r, o, &h);
	task_end(&task);
	failed = failed || put_tail(&tail, o, &h) || put_appended(r, o, &h) ||
		 put(o, &h, sizeof h, 0);
	tail_free(&tail);
	if (failed)
		return -1;
	/* the original's permissions, never its set-user-id bit */
	if (!stat(r->im->path, &st) && fchmod(o->fd, st.st_mode & 0777))
		return err_set(o->e, ERR_MACHINE, "%s: %s", o->path,
			       strerror(errno));
	return 0;
}

int file_write(struct rewriter *r, const char *path)
{
	struct output o = {.path = path, .e = r->e};
	struct atomic_file n;
	bool failed;

	atomic_file_begin(&n, path);
	o.fd = n.fd;
	if (n.fd >= 0 && put_file(r, &o)) {
		atomic_file_end(&n, true);
		return -1;
	}
	failed =
		n.fd < 0 || atomic_file_flush(&n) || atomic_file_name(&n, path);
	atomic_file_end(&n, failed);
	return failed ? err_set(r->e, ERR_MACHINE, "%s: %s", path,
				strerror(errno)) :
			0;
}
