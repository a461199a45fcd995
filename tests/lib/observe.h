/*
 * observe: what the oracles of control flow share: which file an address
 * in memory belongs to, and a set of pairs of addresses seen, with counts.
 *
 * Printed addresses are those of the ELF file, next to the file's path; "-"
 * stands for memory that no ELF file's code is mapped to.
 */
#ifndef TEST_OBSERVE_H
#define TEST_OBSERVE_H

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* memory into which code of a file is mapped */
struct map {
	uint64_t start, end; /* in memory */
	uint64_t delta;	     /* address in memory - address in the file */
	bool runs;	     /* may be executed, as it is mapped */
	char *path;
};

struct maps {
	struct map *at;
	size_t n;
};

/* the pairs, in a hash table; from is 0 where it is empty */
struct seen {
	struct pair {
		uint64_t from, to, count;
	} *at;
	size_t n, size;
};

/*
 * Address in memory - address in the file, for a mapping of the file's
 * bytes at offset: from the executable segment that holds them, if one does.
 */
static inline bool map_delta(struct map *m, uint64_t offset)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	bool found = false;
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &h, sizeof h, 0) == sizeof h &&
	    !memcmp(h.e_ident, ELFMAG, SELFMAG))
		for (int i = 0; i < h.e_phnum && !found; i++) {
			if (pread(fd, &p, sizeof p, (off_t)(h.e_phoff +
				  (uint64_t)i * sizeof p)) != sizeof p)
				break;
			/* whole pages are mapped, from before the segment */
			found = p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
				offset + (m->end - m->start) > p.p_offset &&
				offset < p.p_offset + p.p_filesz;
		}
	close(fd);
	if (found)
		m->delta = m->start - (p.p_vaddr + (offset - p.p_offset));
	return found;
}

/*
 * Reads the code mappings from a file like /proc/PID/maps. Permissions do
 * not count: an emulator maps its guest's code without PROT_EXEC.
 */
static inline void maps_read(struct maps *ms, const char *name)
{
	char line[PATH_MAX + 128], path[PATH_MAX + 1], may[8];
	struct map m;
	uint64_t offset;
	FILE *f = fopen(name, "re");

	if (!f)
		return;
	while (fgets(line, sizeof line, f)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %4096[^\n]", &m.start, &m.end, may,
			   &offset, path) < 5 || path[0] != '/')
			continue;
		m.runs = strchr(may, 'x');
		m.path = strdup(path);
		if (!map_delta(&m, offset)) {
			free(m.path);
			continue;
		}
		ms->at = realloc(ms->at, (ms->n + 1) * sizeof m);
		if (!ms->at)
			abort();
		ms->at[ms->n++] = m;
	}
	fclose(f);
}

static inline void maps_free(struct maps *ms)
{
	for (size_t i = 0; i < ms->n; i++)
		free(ms->at[i].path);
	free(ms->at);
	*ms = (struct maps){0};
}

/* the mapping that holds an address, or NULL */
static inline const struct map *maps_find(const struct maps *ms,
					  uint64_t addr)
{
	for (size_t i = 0; i < ms->n; i++)
		if (addr >= ms->at[i].start && addr < ms->at[i].end)
			return &ms->at[i];
	return NULL;
}

/* the place of a pair: where it is or may be put */
static inline struct pair *seen_find(const struct seen *s, uint64_t from,
				     uint64_t to)
{
	uint64_t h = (from * 0x9e3779b97f4a7c15u) ^
		     (to * 0xc2b2ae3d27d4eb4fu);
	size_t i = (h ^ h >> 29) & (s->size - 1);

	while (s->at[i].from &&
	       (s->at[i].from != from || s->at[i].to != to))
		i = (i + 1) & (s->size - 1);
	return &s->at[i];
}

static inline void seen_grow(struct seen *s)
{
	struct seen old = *s;

	s->size = old.size ? 2 * old.size : 4096;
	s->at = calloc(s->size, sizeof *s->at);
	if (!s->at)
		abort();
	for (size_t i = 0; i < old.size; i++)
		if (old.at[i].from)
			*seen_find(s, old.at[i].from, old.at[i].to) =
				old.at[i];
	free(old.at);
}

/* control went from one address to another, n times */
static inline void seen_add(struct seen *s, uint64_t from, uint64_t to,
			    uint64_t n)
{
	struct pair *p;

	if (2 * s->n >= s->size)
		seen_grow(s);
	p = seen_find(s, from, to);
	if (!p->from) {
		p->from = from;
		p->to = to;
		s->n++;
	}
	p->count += n;
}

static inline int pair_order(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;

	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return p->to < q->to ? -1 : p->to > q->to;
}

/* prints an address as in its file */
static inline void place_print(const struct maps *ms, FILE *f, uint64_t addr)
{
	const struct map *m = maps_find(ms, addr);

	fprintf(f, "\t%s\t0x%" PRIx64, m ? m->path : "-",
		m ? addr - m->delta : addr);
}

/* prints all pairs in order, and empties the set */
static inline void seen_print(struct seen *s, const struct maps *ms, FILE *f,
			      const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < s->size; i++)
		if (s->at[i].from)
			s->at[n++] = s->at[i];
	if (n)
		qsort(s->at, n, sizeof *s->at, pair_order);
	for (size_t i = 0; i < n; i++) {
		fputs(what, f);
		place_print(ms, f, s->at[i].from);
		place_print(ms, f, s->at[i].to);
		fprintf(f, "\t%" PRIu64 "\n", s->at[i].count);
	}
	free(s->at);
	*s = (struct seen){0};
}

#endif
