/* kernel: see kernel.h. */
#include "sample/kernel/kernel.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bisect.h"
#include "base/bytes.h"

enum { MOMENT = 10 }; /* seconds; code of no module may run all the time */

static uint64_t steady(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static FILE *open_in(const struct kernel *k, const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", k->proc ? k->proc : "/proc",
		 name);
	return fopen(path, "re");
}

/* the words of "ADDRESS TYPE NAME" that say where the kernel's text is */
static void read_text(struct kernel *k)
{
	struct kernel_part p = {.name = "[kernel]"};
	FILE *f = open_in(k, "kallsyms");
	char line[512], name[256];
	uint64_t addr;

	while (f && fgets(line, sizeof line, f) && !(p.start && p.end)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "_stext"))
			p.start = addr;
		else if (!strcmp(name, "_etext"))
			p.end = addr;
	}
	if (f)
		fclose(f);
	if (p.start && p.start < p.end)
		vec_push(&k->part, p);
}

/* "NAME SIZE USERS BY STATE ADDRESS" */
static void read_modules(struct kernel *k)
{
	FILE *f = open_in(k, "modules");
	char line[1024], name[MODULE_NAME - 2];
	uint64_t size, addr;

	while (f && fgets(line, sizeof line, f)) {
		struct kernel_part p = {.module = true};

		if (sscanf(line, "%61s %" SCNu64 " %*s %*s %*s %" SCNx64,
			   name, &size, &addr) != 3 || !addr)
			continue;
		snprintf(p.name, sizeof p.name, "[%s]", name);
		p.start = addr;
		p.end = addr + size;
		vec_push(&k->part, p);
	}
	if (f)
		fclose(f);
}

static int part_order(const void *a, const void *b)
{
	const struct kernel_part *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

/* those that there are now, beside the kernel itself */
static void look(struct kernel *k)
{
	k->looked = steady();
	if (k->part.n)
		read_modules(k);
	mem_sort(k->part.at, k->part.n, sizeof *k->part.at, part_order);
}

void kernel_read(struct kernel *k)
{
	*k = (struct kernel){.proc = k->proc};
	read_text(k);
	look(k);
	k->build_id_len = kernel_build_id(k->build_id);
}

static bool is_same(const struct kernel *a, const struct kernel *b)
{
	const struct kernel_part *p = a->part.at, *q = b->part.at;

	if (a->part.n != b->part.n)
		return false;
	for (size_t i = 0; i < a->part.n; i++)
		if (p[i].start != q[i].start || p[i].end != q[i].end ||
		    strcmp(p[i].name, q[i].name))
			return false;
	return true;
}

bool kernel_look_again(struct kernel *k)
{
	struct kernel old = *k;
	bool changed;

	if (!k->part.n || steady() < k->looked + MOMENT)
		return false;
	memset(&k->part, 0, sizeof k->part);
	for (size_t i = 0; i < old.part.n; i++)
		if (!old.part.at[i].module)
			vec_push(&k->part, old.part.at[i]);
	look(k);
	changed = !is_same(&old, k);
	vec_free(&old.part);
	return changed;
}

const struct kernel_part *kernel_find(const struct kernel *k, uint64_t addr)
{
	size_t i;

	bisect(i, k->part.n, k->part.at[i].end <= addr);
	return i < k->part.n && k->part.at[i].start <= addr ? &k->part.at[i] :
							      NULL;
}

void kernel_free(struct kernel *k)
{
	vec_free(&k->part);
}

uint32_t kernel_build_id(uint8_t id[KERNEL_BUILD_ID])
{
	FILE *f = fopen("/sys/kernel/notes", "re");
	uint8_t text[4096];
	size_t n = f ? fread(text, 1, sizeof text, f) : 0;
	struct bytes b = bytes_window(text, n, 0);

	if (f)
		fclose(f);
	while (bytes_left(&b) >= sizeof(Elf64_Nhdr)) {
		uint64_t name = bytes_uint(&b, 4), desc = bytes_uint(&b, 4);
		uint64_t type = bytes_uint(&b, 4);
		const uint8_t *by = bytes_take(&b, (name + 3) & ~UINT64_C(3));
		const uint8_t *is = bytes_take(&b, (desc + 3) & ~UINT64_C(3));

		if (!by || !is)
			break;
		if (type != NT_GNU_BUILD_ID || name != 4 ||
		    memcmp(by, "GNU", 4) || desc > KERNEL_BUILD_ID)
			continue;
		memcpy(id, is, desc);
		return (uint32_t)desc;
	}
	return 0;
}
