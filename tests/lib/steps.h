/*
 * steps: which instructions a process has completed, how often, and which
 * followed which; what step-counts tells of them.
 */
#ifndef TEST_STEPS_H
#define TEST_STEPS_H

#include <sys/uio.h>
#include <sys/user.h>

#include "base/mem.h"
#include "breakpoint.h"
#include "exclusive.h"
#include "observe.h"

/* an instruction that was seen, in a hash table by address */
struct insn_seen {
	uint64_t pc, count;
	bool calls, reserves;
	bool circles; /* it may jump to itself */
};

struct steps {
	struct insn_seen *at;
	size_t n, size;
	struct seen done; /* by image, numbered from 1, and address there */
	struct seen flow; /* from one address in memory to another */
};

static VEC(char *) image; /* paths */

static uint64_t pc_of(const struct user_regs_struct *r)
{
	return r->REGISTER_PC;
}

static uint64_t sp_of(const struct user_regs_struct *r)
{
	return r->REGISTER_SP;
}

#if defined(__x86_64__)
enum { CODE = 4 };

static uint64_t number_of(const struct user_regs_struct *r)
{
	return r->rax;
}

static bool is_call(const uint8_t *c)
{
	return c[0] == 0x0f && c[1] == 0x05;
}

static bool is_reserving(const uint8_t *c)
{
	(void)c;
	return false;
}

/* jcc, loop and jmp, short, and the long jmp */
static bool is_circle(const uint8_t *c)
{
	return ((c[0] >> 4 == 7 || (c[0] & 0xfc) == 0xe0 || c[0] == 0xeb) &&
		c[1] == 0xfe) ||
	       (c[0] == 0xe9 && c[1] == 0xfb && c[2] == 0xff && c[3] == 0xff);
}
#elif defined(__aarch64__)
enum { CODE = 4 };

static uint64_t number_of(const struct user_regs_struct *r)
{
	return r->regs[8];
}

static bool is_call(const uint8_t *c)
{
	return c[0] == 1 && !c[1] && !c[2] && c[3] == 0xd4;
}

static bool is_reserving(const uint8_t *c)
{
	uint32_t w;

	memcpy(&w, c, sizeof w);
	return is_exclusive(w, true);
}

/* b, b.cond, cbz and cbnz, tbz and tbnz */
static bool is_circle(const uint8_t *c)
{
	uint32_t w;

	memcpy(&w, c, sizeof w);
	return w == 0x14000000 || (w & 0xffffffe0) == 0x54000000 ||
	       (w & 0x7effffe0) == 0x34000000 ||
	       (w & 0x7e07ffe0) == 0x36000000;
}
#endif

static struct insn_seen *place_of(const struct steps *s, uint64_t pc)
{
	size_t i = (pc * 0x9e3779b97f4a7c15u) >> 20 & (s->size - 1);

	while (s->at[i].pc && s->at[i].pc != pc)
		i = (i + 1) & (s->size - 1);
	return &s->at[i];
}

static void steps_grow(struct steps *s)
{
	struct steps old = *s;

	s->size = old.size ? 2 * old.size : 4096;
	s->at = NEW_ARRAY(struct insn_seen, s->size);
	for (size_t i = 0; i < old.size; i++)
		if (old.at[i].pc)
			*place_of(s, old.at[i].pc) = old.at[i];
	mem_free(old.at);
}

static struct insn_seen *steps_find(struct steps *s, pid_t tid, uint64_t pc)
{
	struct insn_seen *x;
	uint8_t code[CODE + 12] = {0};
	struct iovec to = {code, CODE}, from = {(void *)(uintptr_t)pc, CODE};

	if (2 * s->n >= s->size)
		steps_grow(s);
	x = place_of(s, pc);
	if (x->pc)
		return x;
	process_vm_readv(tid, &to, 1, &from, 1, 0);
	*x = (struct insn_seen){pc, 0, is_call(code), is_reserving(code),
				is_circle(code)};
	s->n++;
	return x;
}

static uint64_t image_number(const char *path)
{
	for (size_t i = 0; i < image.n; i++)
		if (!strcmp(image.at[i], path))
			return i + 1;
	vec_push(&image, strdup(path));
	return image.n;
}

static FILE *steps_file(const char *out, pid_t pid)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof name, "%s.%d", out, pid);
	f = fopen(name, "ae");
	if (!f) {
		perror(name);
		exit(125);
	}
	return f;
}

/* memory is about to change: whose addresses these are is told now */
static void steps_settle(struct steps *s, const char *out, pid_t pid)
{
	char name[64];
	struct maps maps = {0};
	FILE *f;

	if (!s->n)
		return;
	f = steps_file(out, pid);
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	maps_read(&maps, name);
	for (size_t i = 0; i < s->size; i++) {
		const struct insn_seen *x = &s->at[i];
		const struct map *m = x->pc ? maps_find(&maps, x->pc) : NULL;

		if (m && x->count)
			seen_add(&s->done, image_number(m->path),
				 x->pc - m->delta, x->count);
	}
	memset(s->at, 0, s->size * sizeof *s->at);
	s->n = 0;
	seen_print(&s->flow, &maps, f, "flow");
	fclose(f);
	maps_free(&maps);
}

static void steps_print(struct steps *s, const char *out, pid_t pid)
{
	FILE *f = steps_file(out, pid);

	for (size_t i = 0; i < s->done.size; i++) {
		const struct pair *x = &s->done.at[i];

		if (x->from)
			fprintf(f, "ran\t%s\t0x%" PRIx64 "\t%s\t0x%" PRIx64
				"\t%" PRIu64 "\n", image.at[x->from - 1],
				x->to, image.at[x->from - 1], x->to, x->count);
	}
	fclose(f);
	free(s->done.at);
	s->done = (struct seen){0};
}

#endif
