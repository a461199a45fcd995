/*
 * hidden: the code of a traced program, of which nothing can run unseen while
 * it is hidden: all of it is breakpoints then. So libraries may run at full
 * speed, and who comes out of them is caught at his first instruction, by
 * whatever way he comes: a return, a callback, a handler, longjmp(), an
 * exception.
 *
 * Code is what the file's sections say; without these nothing is hidden.
 * Threads share it, so only who is alone in his memory may hide his code.
 */
#ifndef TEST_HIDDEN_H
#define TEST_HIDDEN_H

#include "base/mem.h"
#include "breakpoint.h"
#include "observe.h"

/* code of a section, in memory; what is written there while it is hidden */
struct code_range {
	uint64_t start;
	size_t size;
	uint8_t *was, *traps;
};

struct hidden {
	VEC(struct code_range) code;
	int mem; /* /proc/PID/mem */
	bool now;
};

static inline void hidden_free(struct hidden *h)
{
	for (size_t i = 0; i < h->code.n; i++) {
		mem_free(h->code.at[i].was);
		mem_free(h->code.at[i].traps);
	}
	if (h->code.n)
		close(h->mem);
	vec_free(&h->code);
	*h = (struct hidden){0};
}

static inline void hidden_add(struct hidden *h, uint64_t start, size_t size)
{
	struct code_range s = {start, size, NEW_ARRAY(uint8_t, size),
			       NEW_ARRAY(uint8_t, size)};

	for (size_t i = 0; i < size; i++)
		s.traps[i] = trap_code[i % TRAP_BYTES];
	vec_push(&h->code, s);
}

/* the sections of code that are in a mapping of their file */
static inline void hidden_sections(struct hidden *h, const struct map *m)
{
	Elf64_Ehdr e;
	Elf64_Shdr s;
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);

	for (int i = 0; pread(fd, &e, sizeof e, 0) == sizeof e &&
			i < e.e_shnum; i++) {
		if (pread(fd, &s, sizeof s, (off_t)(e.e_shoff +
			  (uint64_t)i * sizeof s)) != sizeof s)
			break;
		if ((s.sh_flags & SHF_EXECINSTR) && s.sh_size &&
		    s.sh_addr + m->delta >= m->start &&
		    s.sh_addr + m->delta < m->end)
			hidden_add(h, s.sh_addr + m->delta, s.sh_size);
	}
	close(fd);
}

/* the code of the program that the process has just begun */
static inline void hidden_read(struct hidden *h, pid_t pid)
{
	char name[64], exe[PATH_MAX] = "";
	struct maps maps = {0};

	hidden_free(h);
	snprintf(name, sizeof name, "/proc/%d/exe", pid);
	if (readlink(name, exe, sizeof exe - 1) < 0)
		return;
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	maps_read(&maps, name);
	for (size_t i = 0; i < maps.n; i++)
		if (maps.at[i].runs && !strcmp(maps.at[i].path, exe))
			hidden_sections(h, &maps.at[i]);
	maps_free(&maps);
	if (h->code.n)
		h->mem = memory_of(pid);
}

static inline bool hidden_holds(const struct hidden *h, uint64_t pc)
{
	for (size_t i = 0; i < h->code.n; i++)
		if (pc - h->code.at[i].start < h->code.at[i].size)
			return true;
	return false;
}

/* the process does not go on if its code cannot be what it should be */
static inline void hidden_move(const struct hidden *h,
			       const struct code_range *s, const uint8_t *from)
{
	if (pwrite(h->mem, from, s->size, (off_t)s->start) !=
	    (ssize_t)s->size) {
		perror("the program's memory");
		exit(125);
	}
}

static inline void hidden_hide(struct hidden *h)
{
	for (size_t i = 0; i < h->code.n && !h->now; i++) {
		const struct code_range *s = &h->code.at[i];

		if (pread(h->mem, s->was, s->size, (off_t)s->start) !=
		    (ssize_t)s->size)
			exit(125);
		hidden_move(h, s, s->traps);
	}
	h->now = true;
}

static inline void hidden_show(struct hidden *h)
{
	for (size_t i = 0; i < h->code.n && h->now; i++)
		hidden_move(h, &h->code.at[i], h->code.at[i].was);
	h->now = false;
}

/* of a child, whose memory is a copy of its parent's as it is now */
static inline void hidden_copy(struct hidden *h, const struct hidden *parent,
			       pid_t pid)
{
	for (size_t i = 0; i < parent->code.n; i++) {
		const struct code_range *s = &parent->code.at[i];

		hidden_add(h, s->start, s->size);
		memcpy(h->code.at[i].was, s->was, s->size);
	}
	h->now = parent->now;
	if (h->code.n)
		h->mem = memory_of(pid);
}

#endif
