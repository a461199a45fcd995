/*
 * decode_a64: how many AArch64 instructions per second we scan, decode, lift.
 *
 *	decode_a64 [FILE]
 *
 * The instructions are those of FILE's executable sections; without a file,
 * words from a list of common instructions in random order, which is the
 * harder case: the branch predictor learns nothing. The best of five passes
 * counts. One line per function: name, million instructions per second.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "isa/isa.h"
#include "isa/uop.h"

enum { PASSES = 5, GENERATED = 4 << 20, WORD = 4 };

struct text {
	uint8_t *code;
	size_t size;
};

/* a buffer of n instructions drawn from common ones */
static struct text text_generate(size_t n)
{
	static const uint32_t common[] = {
		0x910003fd, 0xa9bd7bfd, 0xf9400fe0, 0x94000123, 0x54000041,
		0xaa0003e1, 0xd65f03c0, 0xb4000040, 0x90000001, 0x71000c1f,
		0x1a9f17e0, 0x52800020, 0x38401c02, 0x8b010000, 0x1e604020,
		0x4ea28400, 0x9b017c00, 0x53001c00, 0xc85ffc01, 0x17ffffff,
	};
	struct text t = {malloc(n * WORD), n * WORD};
	uint64_t seed = 1;

	for (size_t i = 0; t.code && i < n; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		memcpy(t.code + i * WORD,
		       &common[(seed >> 33) %
			       (sizeof(common) / sizeof(common[0]))],
		       WORD);
	}
	return t;
}

/* the whole file, or nothing */
static struct text file_read(const char *path)
{
	struct text t = {NULL, 0};
	FILE *f = fopen(path, "rb");
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
		if (f)
			fclose(f);
		return t;
	}
	rewind(f);
	t.code = malloc((size_t)size + 1);
	if (t.code)
		t.size = fread(t.code, 1, (size_t)size, f);
	fclose(f);
	return t;
}

/* the executable sections of an ELF file, moved to the front of its buffer */
static bool text_keep(struct text *t)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)t->code;
	const Elf64_Shdr *sh;
	size_t n = 0;
	uint8_t *out;

	if (t->size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_machine != isa_a64.elf_machine || eh->e_shoff > t->size ||
	    (t->size - eh->e_shoff) / sizeof(*sh) < eh->e_shnum)
		return false;
	out = malloc(t->size);
	sh = (const Elf64_Shdr *)(t->code + eh->e_shoff);
	for (unsigned i = 0; out && i < eh->e_shnum; i++) {
		if (!(sh[i].sh_flags & SHF_EXECINSTR) ||
		    sh[i].sh_type != SHT_PROGBITS ||
		    sh[i].sh_offset > t->size ||
		    sh[i].sh_size > t->size - sh[i].sh_offset ||
		    sh[i].sh_size > t->size - n)
			continue;
		memcpy(out + n, t->code + sh[i].sh_offset, sh[i].sh_size);
		n += sh[i].sh_size / WORD * WORD;
	}
	free(t->code);
	t->code = out;
	t->size = n;
	return n != 0;
}

typedef unsigned pass(const struct text *t);

static unsigned pass_scan(const struct text *t)
{
	struct insn in;
	unsigned sum = 0;

	for (size_t i = 0; i < t->size; i += WORD) {
		isa_a64.scan(t->code + i, t->size - i, i, &in);
		sum += in.kind;
	}
	return sum;
}

static unsigned pass_decode(const struct text *t)
{
	struct insn in;
	unsigned sum = 0;

	for (size_t i = 0; i < t->size; i += WORD) {
		isa_a64.decode(t->code + i, t->size - i, i, &in);
		sum += in.reads;
	}
	return sum;
}

static unsigned pass_lift(const struct text *t)
{
	struct uop u[UOP_MAX];
	unsigned sum = 0;

	for (size_t i = 0; i < t->size; i += WORD)
		sum += isa_a64.lift(t->code + i, t->size - i, i, u);
	return sum;
}

/* processor time in seconds: other programs on the machine do not count */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* run one pass several times and print its best speed */
static void measure(const char *name, pass *p, const struct text *t)
{
	double best = 1e9, start, took;
	unsigned sum = 0;

	for (int i = 0; i < PASSES; i++) {
		start = now();
		sum += p(t);
		took = now() - start;
		if (took < best)
			best = took;
	}
	printf("%s %.1f M/s (checksum %x)\n", name,
	       (double)(t->size / WORD) / best / 1e6, sum);
}

int main(int argc, char **argv)
{
	struct text t;

	if (argc > 1) {
		t = file_read(argv[1]);
		if (!t.code || !text_keep(&t)) {
			fprintf(stderr, "decode_a64: %s: no AArch64 code\n",
				argv[1]);
			return 1;
		}
	} else {
		t = text_generate(GENERATED);
	}
	printf("instructions %zu\n", t.size / WORD);
	measure("scan", pass_scan, &t);
	measure("decode", pass_decode, &t);
	measure("lift", pass_lift, &t);
	free(t.code);
	return 0;
}
