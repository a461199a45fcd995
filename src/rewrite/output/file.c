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

static Elf64_Ehdr old_header(const struct inputs *in)
{
	Elf64_Ehdr h;

	memcpy(&h, in->im->bytes, sizeof h);
	return h;
}

/* what is between addresses and file offsets of new segments */
static uint64_t load_base(const struct inputs *in)
{
	return in->im->segment[0].start - in->im->segment[0].offset;
}

static uint64_t file_offset(const struct output *o, uint64_t addr)
{
	return addr - load_base(o->in);
}

/* bytes of the old file that its segments use */
static uint64_t old_file_end(const struct inputs *in)
{
	uint64_t end = 0;

	for (size_t i = 0; i < in->im->nsegment; i++) {
		const struct segment *s = &in->im->segment[i];
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

int file_place_code(struct layout *l)
{
	uint64_t end = l->in->im->segment[l->in->im->nsegment - 1].end;
	uint64_t used = old_file_end(l->in) + load_base(l->in);

	if (code_is_shared(l->in->im))
		return err_set(l->in->e, ERR_INPUT,
			       "%s: two segments load the same bytes of code",
			       l->in->im->path);
	if (end > ADDRESS_MAX || used > ADDRESS_MAX ||
	    end - load_base(l->in) > SPAN_MAX)
		return err_set(l->in->e, ERR_INPUT,
			       "%s: its segments, up to 0x%llx, leave no room "
			       "for new code",
			       l->in->im->path, (unsigned long long)end);
	if (l->in->im->nphdr + NEW_HEADERS >= PN_XNUM)
		return err_set(l->in->e, ERR_INPUT,
			       "%s: its %zu program headers "
			       "leave no room for ours",
			       l->in->im->path, l->in->im->nphdr);
	l->code_addr = round_up(end > used ? end : used, l->in->isa->page);
	l->text_addr = l->code_addr +
		       (l->in->im->nphdr + NEW_HEADERS) * sizeof(Elf64_Phdr);
	l->text_addr = round_up(l->text_addr, 64);
	return 0;
}

/* our note: a name, a type and the version of tally */
static void push_note(struct table_segment *t)
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
	t->note_size = (uint32_t)(sizeof h + sizeof owner +
				  round_up(sizeof version, 4));
	for (unsigned i = 0; i < round_up(t->note_size, TABLE_ALIGN); i++)
		vec_push(&t->bytes, note[i]);
}

/* the table that leads back, for a plan whose code may have to look there */
static void place_back(const struct layout *l, struct table_segment *t)
{
	buffer b = {0};

	t->back_addr = t->nback = 0;
	if (!l->in->plan || !l->in->survey->kept)
		return;
	reverse_map_table(&l->m, &l->links, l->in->c, &l->in->survey->marks,
			  l->code_addr, l->in->im->segment[0].start, &b);
	while (t->bytes.n % TABLE_ALIGN)
		vec_push(&t->bytes, 0);
	t->back_addr = t->addr + t->bytes.n;
	t->nback = b.n / REVERSE_MAP_ENTRY;
	vec_append(&t->bytes, &b);
	vec_free(&b);
}

/* room for the plan's constants, behind the other tables */
static void place_constants(const struct plan *plan, struct table_segment *t)
{
	uint64_t size = plan ? plan->constant_size : 0;

	while (t->bytes.n % TABLE_ALIGN)
		vec_push(&t->bytes, 0);
	t->constant_addr = t->addr + t->bytes.n;
	vec_reserve(&t->bytes, size);
	memset(t->bytes.at + t->bytes.n, 0, size);
	t->bytes.n += size;
}

void file_write_constants(const struct layout *l, struct table_segment *t)
{
	struct plan_bases bases = {.data = t->data_addr,
				   .support = l->support_addr,
				   .constants = t->constant_addr};

	if (l->in->plan && l->in->plan->constant_size)
		l->in->plan->constants(l->in->plan->ctx, &bases,
				       t->bytes.at +
					       (t->constant_addr - t->addr));
}

int file_place_tables(const struct layout *l, struct table_segment *t)
{
	uint64_t at = round_up(l->text_end, l->in->isa->page), size;

	t->addr = at;
	t->bytes.n = 0;
	unwind_out_free(&t->unwind);
	push_note(t);
	if (unwind_out_make(&t->unwind, at + t->bytes.n, l->in->im,
			    l->in->c->unwind, &l->m, l->in->e))
		return -1;
	vec_append(&t->bytes, &t->unwind.bytes);
	tls_place(l->in, t);
	place_back(l, t);
	place_constants(l->in->plan, t);
	t->data_addr = round_up(at + t->bytes.n, l->in->isa->page);
	/*
	 * Whole pages: musl's loader gives what is left of a page behind
	 * variables to malloc(), and counters are mapped over all of theirs.
	 */
	size = l->in->plan && l->in->plan->data_size ? l->in->plan->data_size :
						       1;
	t->data_end = round_up(t->data_addr + size, l->in->isa->page);
	return 0;
}

/* --- program headers */

typedef VEC(Elf64_Phdr) phdrs;

static void push_load(const struct output *o, phdrs *v, uint64_t start,
		      uint64_t file_size, uint64_t size, uint32_t flags)
{
	Elf64_Phdr p = {
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = file_offset(o, start),
		.p_vaddr = start,
		.p_paddr = start,
		.p_filesz = file_size,
		.p_memsz = size,
		.p_align = o->in->isa->page,
	};

	vec_push(v, p);
}

static void push_loads(const struct output *o, phdrs *v)
{
	uint64_t code = o->l->text_end - o->l->code_addr;

	push_load(o, v, o->l->code_addr, code, code, PF_R | PF_X);
	push_load(o, v, o->t->addr, o->t->bytes.n, o->t->bytes.n, PF_R);
	push_load(o, v, o->t->data_addr, 0, o->t->data_end - o->t->data_addr,
		  PF_R | PF_W);
}

static void point_at(const struct output *o, Elf64_Phdr *p, uint64_t addr,
		     uint64_t size)
{
	p->p_offset = file_offset(o, addr);
	p->p_vaddr = p->p_paddr = addr;
	p->p_filesz = p->p_memsz = size;
}

static void push_small(const struct output *o, phdrs *v, uint32_t type,
		       uint64_t addr, uint64_t size)
{
	Elf64_Phdr p = {.p_type = type, .p_flags = PF_R, .p_align = 4};

	point_at(o, &p, addr, size);
	vec_push(v, p);
}

/* the header of variables of threads, which was `old` */
static void push_tls(const struct output *o, phdrs *v, Elf64_Phdr old)
{
	tls_header(o, &old);
	old.p_offset = file_offset(o, o->t->tls_addr);
	vec_push(v, old);
}

/* the old headers with what moved, and ours */
static void make_phdrs(const struct output *o, phdrs *v)
{
	size_t n = o->in->im->nphdr, last_load = 0;
	bool unwind = false, tls = false;
	size_t table = SIZE_MAX;

	for (size_t i = 0; i < n; i++)
		if (phdr_at(o->in->im, i).p_type == PT_LOAD)
			last_load = i;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr p = phdr_at(o->in->im, i);

		if (p.p_type == PT_PHDR)
			table = v->n;
		if (p.p_type == PT_TLS && o->t->tls_addr) {
			push_tls(o, v, p);
			tls = true;
			continue;
		}
		if (p.p_type == PT_GNU_EH_FRAME && o->t->unwind.hdr_size) {
			point_at(o, &p, o->t->unwind.hdr,
				 o->t->unwind.hdr_size);
			unwind = true;
		}
		vec_push(v, p);
		if (i == last_load)
			push_loads(o, v);
	}
	push_small(o, v, PT_NOTE, o->t->addr, o->t->note_size);
	if (!unwind && o->t->unwind.hdr_size)
		push_small(o, v, PT_GNU_EH_FRAME, o->t->unwind.hdr,
			   o->t->unwind.hdr_size);
	if (!tls && o->t->tls_addr)
		push_tls(o, v, (Elf64_Phdr){0});
	if (table != SIZE_MAX)
		point_at(o, &v->at[table], o->l->code_addr,
			 v->n * sizeof *v->at);
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
static const char *suffix_of(const struct output *o, const char *name)
{
	bool replaced = !strcmp(name, ".eh_frame") ||
			!strcmp(name, ".eh_frame_hdr");

	return replaced && o->t->unwind.hdr_size ? ".old" : "";
}

static void copy_sections(const struct output *o, struct sections *s)
{
	Elf64_Ehdr h = old_header(o->in);

	for (size_t i = 0; i < o->in->im->nsection; i++) {
		const struct section *sec = &o->in->im->section[i];
		Elf64_Shdr sh;

		vec_push(&s->renumbered, 0);
		if (sec->type == SHT_NULL || !(sec->flags & SHF_ALLOC))
			continue;
		memcpy(&sh, o->in->im->bytes + h.e_shoff + (i + 1) * sizeof sh,
		       sizeof sh);
		sh.sh_name = push_name(s, sec->name, suffix_of(o, sec->name));
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

static void push_section(const struct output *o, struct sections *s,
			 const char *name, uint32_t type, uint64_t flags,
			 uint64_t start, uint64_t end)
{
	Elf64_Shdr sh = {
		.sh_name = push_name(s, name, ""),
		.sh_type = type,
		.sh_flags = SHF_ALLOC | flags,
		.sh_addr = start,
		.sh_offset = file_offset(o, start),
		.sh_size = end - start,
		.sh_addralign = 4,
	};

	if (end > start)
		vec_push(&s->at, sh);
}

static void push_own_sections(const struct output *o, struct sections *s)
{
	const struct unwind_out *u = &o->t->unwind;

	push_section(o, s, REVERSE_MAP_TEXT, SHT_PROGBITS, SHF_EXECINSTR,
		     o->l->text_addr, o->l->text_end);
	push_section(o, s, ".note.tally", SHT_NOTE, 0, o->t->addr,
		     o->t->addr + o->t->note_size);
	push_section(o, s, ".eh_frame_hdr", SHT_PROGBITS, 0, u->hdr,
		     u->hdr + u->hdr_size);
	push_section(o, s, ".eh_frame", SHT_PROGBITS, 0, u->frame,
		     u->frame + u->frame_size);
	push_section(o, s, ".tally.except", SHT_PROGBITS, 0, u->lsda,
		     u->lsda + u->lsda_size);
	push_section(o, s, ".tally.data", SHT_NOBITS, SHF_WRITE,
		     o->t->data_addr, o->t->data_end);
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

struct new_file {
	int fd;
	const char *path;
	struct err *e;
};

static int put(const struct new_file *f, const void *bytes, uint64_t size,
	       uint64_t offset)
{
	const uint8_t *p = bytes;

	while (size) {
		size_t some = size < 1 << 30 ? size : 1 << 30;
		ssize_t n = pwrite(f->fd, p, some, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(f->e, ERR_MACHINE, "%s: %s", f->path,
				       n ? strerror(errno) : "short write");
		p += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

static int put_section(const struct new_file *f, struct sections *s,
		       const char *name, const uint8_t *bytes, size_t size,
		       uint64_t *at)
{
	push_tail(s, name, SHT_PROGBITS, *at, size);
	if (put(f, bytes, size, *at))
		return -1;
	*at += size;
	return 0;
}

/* what comes behind everything that is loaded */
struct tail {
	const struct output *o;
	struct sections s;
	struct symbol_table t;
	buffer back; /* from new addresses to old, if the plan wants it */
};

/* an task: makes all of it that needs no place in the file */
static void *tail_make(void *arg)
{
	struct tail *l = arg;
	const struct output *o = l->o;
	Elf64_Shdr none = {0};

	vec_push(&l->s.at, none);
	vec_push(&l->s.names, '\0');
	if (o->in->im->has_sections)
		copy_sections(o, &l->s);
	renumber_links(&l->s);
	l->t.section = l->s.at.at;
	l->t.nsection = (uint16_t)l->s.at.n;
	symbols_make(&l->t, o->l, l->t.nsection);
	push_own_sections(o, &l->s);
	if (o->in->plan && o->in->plan->reverse_map)
		reverse_map_write(&o->l->m, &o->l->links, o->in->c,
				  &o->in->survey->marks, &l->back);
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
static int put_plan_sections(struct tail *l, const struct new_file *f,
			     uint64_t *at)
{
	const struct plan *p = l->o->in->plan;
	const uint8_t *own;
	size_t size;

	if (!p)
		return 0;
	if (p->reverse_map &&
	    put_section(f, &l->s, REVERSE_MAP_SECTION, l->back.at, l->back.n,
			at))
		return -1;
	if (!p->section_name)
		return 0;
	own = p->section(p->ctx, &size);
	return put_section(f, &l->s, p->section_name, own, size, at);
}

/* sections and symbols, behind everything that is loaded */
static int put_tail(struct tail *l, const struct new_file *f, Elf64_Ehdr *h)
{
	const struct output *o = l->o;
	struct sections *s = &l->s;
	uint64_t end = file_offset(o, o->t->addr) + o->t->bytes.n;
	uint64_t at = round_up(end, 16), strings, names;
	uint16_t symtab;

	symtab = push_tail(s, ".symtab", SHT_SYMTAB, at, l->t.symbols.n);
	s->at.at[symtab].sh_link = symtab + 1U;
	s->at.at[symtab].sh_info = l->t.locals;
	strings = at + l->t.symbols.n;
	push_tail(s, ".strtab", SHT_STRTAB, strings, l->t.strings.n);
	names = strings + l->t.strings.n;
	if (put_plan_sections(l, f, &names))
		return -1;
	h->e_shstrndx = push_tail(s, ".shstrtab", SHT_STRTAB, names, 0);
	s->at.at[h->e_shstrndx].sh_size = s->names.n;
	h->e_shoff = round_up(names + s->names.n, 8);
	h->e_shnum = (uint16_t)s->at.n;
	h->e_shentsize = sizeof(Elf64_Shdr);
	if (put(f, l->t.symbols.at, l->t.symbols.n, at) ||
	    put(f, l->t.strings.at, l->t.strings.n, strings) ||
	    put(f, s->names.at, s->names.n, names) ||
	    put(f, s->at.at, s->at.n * sizeof *s->at.at, h->e_shoff))
		return -1;
	return 0;
}

/* the end of all that the headers of the old file tell of */
static uint64_t described_end(const struct output *o)
{
	const struct image *im = o->in->im;
	uint64_t end = old_file_end(o->in);
	uint64_t headers = old_header(o->in).e_shoff +
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
static int put_appended(const struct output *o, const struct new_file *f,
			const Elf64_Ehdr *h)
{
	uint64_t from = described_end(o);

	return from < o->in->im->size ?
		       put(f, o->in->im->bytes + from, o->in->im->size - from,
			   h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr)) :
		       0;
}

static int put_segments(const struct output *o, const struct new_file *f,
			Elf64_Ehdr *h)
{
	phdrs v = {0};
	int failed;

	make_phdrs(o, &v);
	h->e_phoff = file_offset(o, o->l->code_addr);
	h->e_phnum = (uint16_t)v.n;
	failed = put(f, o->old, old_file_end(o->in), 0) ||
		 put(f, v.at, v.n * sizeof *v.at, h->e_phoff) ||
		 put(f, o->text, o->l->text_end - o->l->text_addr,
		     file_offset(o, o->l->text_addr)) ||
		 put(f, o->t->bytes.at, o->t->bytes.n,
		     file_offset(o, o->t->addr));
	vec_free(&v);
	return failed ? -1 : 0;
}

static int put_file(const struct output *o, const struct new_file *f)
{
	Elf64_Ehdr h = old_header(o->in);
	struct tail tail = {.o = o};
	struct task task;
	struct stat st;
	int failed;

	if (o->in->plan && o->in->plan->entry)
		h.e_entry = o->l->support_addr + o->in->plan->entry;
	task_begin(&task, tail_make, &tail, o->l->m.moved.n >= TAIL_PARTS);
	failed = put_segments(o, f, &h);
	task_end(&task);
	failed = failed || put_tail(&tail, f, &h) || put_appended(o, f, &h) ||
		 put(f, &h, sizeof h, 0);
	tail_free(&tail);
	if (failed)
		return -1;
	/* the original's permissions, never its set-user-id bit */
	if (!stat(o->in->im->path, &st) && fchmod(f->fd, st.st_mode & 0777))
		return err_set(f->e, ERR_MACHINE, "%s: %s", f->path,
			       strerror(errno));
	return 0;
}

int file_write(const struct output *o, const char *path)
{
	struct new_file f = {.path = path, .e = o->in->e};
	struct atomic_file n;
	bool failed;

	atomic_file_begin(&n, path);
	f.fd = n.fd;
	if (n.fd >= 0 && put_file(o, &f)) {
		atomic_file_end(&n, true);
		return -1;
	}
	failed =
		n.fd < 0 || atomic_file_flush(&n) || atomic_file_name(&n, path);
	atomic_file_end(&n, failed);
	return failed ? err_set(o->in->e, ERR_MACHINE, "%s: %s", path,
				strerror(errno)) :
			0;
}
