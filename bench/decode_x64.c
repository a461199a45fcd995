/*
 * decode_x64: how fast x86-64 code is scanned, decoded and lifted.
 *
 *	decode_x64 [FILE]
 *
 * Runs over all executable sections of an ELF file, from each section's start,
 * a few times, and prints the best round of each in million instructions and
 * MB of code a second. Without a file it takes the largest of some usual
 * libraries.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa.h"
#include "isa/uop.h"

enum { ROUNDS = 5, MAX_BYTES = 64 << 20 };

static const char *const usual[] = {
	"/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/bin/node",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/lib/x86_64-linux-gnu/libc.so.6",
};

struct work {
	uint64_t insns, bytes;
};

typedef void pass(const uint8_t *text, size_t size, uint64_t addr,
		  struct work *w);

/* goes through a section with scan() or decode() */
static void walk(void (*look)(const uint8_t *, size_t, uint64_t,
			      struct insn *),
		 const uint8_t *text, size_t size, uint64_t addr,
		 struct work *w)
{
	struct insn in;

	for (size_t at = 0; at < size; at += in.len ? in.len : 1) {
		look(text + at, size - at, addr + at, &in);
		w->insns++;
	}
	w->bytes += size;
}

static void scan_pass(const uint8_t *text, size_t size, uint64_t addr,
		      struct work *w)
{
	walk(isa_x64.scan, text, size, addr, w);
}

static void decode_pass(const uint8_t *text, size_t size, uint64_t addr,
			struct work *w)
{
	walk(isa_x64.decode, text, size, addr, w);
}

/* lifting gives no lengths: scan() finds them */
static void lift_pass(const uint8_t *text, size_t size, uint64_t addr,
		      struct work *w)
{
	struct uop u[UOP_MAX];
	struct insn in;

	for (size_t at = 0; at < size; at += in.len ? in.len : 1) {
		isa_x64.scan(text + at, size - at, addr + at, &in);
		isa_x64.lift(text + at, size - at, addr + at, u);
		w->insns++;
	}
	w->bytes += size;
}

/* seconds of processor time: other work on the machine does not count */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* runs a pass over all executable sections */
static struct work run(pass *p, const uint8_t *image, const Elf64_Ehdr *h)
{
	const Elf64_Shdr *sh = (const void *)(image + h->e_shoff);
	struct work w = {0};

	for (int i = 0; i < h->e_shnum; i++)
		if (sh[i].sh_flags & SHF_EXECINSTR &&
		    sh[i].sh_type == SHT_PROGBITS)
			p(image + sh[i].sh_offset,
			  sh[i].sh_size < MAX_BYTES ? sh[i].sh_size
						    : MAX_BYTES,
			  sh[i].sh_addr, &w);
	return w;
}

/* prints the best of some rounds */
static void measure(const char *name, pass *p, const uint8_t *image,
		    const Elf64_Ehdr *h)
{
	double best = 1e9;
	struct work w = {0};

	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		w = run(p, image, h);
		if (now() - start < best)
			best = now() - start;
	}
	printf("%-8s %6.1f M insn/s %7.1f MB/s  (%.1f M instructions)\n",
	       name, w.insns / best / 1e6, w.bytes / best / 1e6,
	       w.insns / 1e6);
}

static bool is_ours(const char *path)
{
	Elf64_Ehdr h = {0};
	int fd = open(path, O_RDONLY);
	bool ours = read(fd, &h, sizeof h) == sizeof h &&
		    h.e_machine == isa_x64.elf_machine;

	close(fd);
	return ours;
}

/* the largest of the usual libraries, or NULL */
static const char *largest(void)
{
	const char *best = NULL;
	off_t size = 0;
	struct stat st;

	for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++)
		if (stat(usual[i], &st) == 0 && st.st_size > size &&
		    is_ours(usual[i])) {
			size = st.st_size;
			best = usual[i];
		}
	return best;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : largest();
	const uint8_t *image;
	struct stat st;
	Elf64_Ehdr h;
	int fd;

	if (!path) {
		printf("no x86-64 library found; name a file\n");
		return 0;
	}
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0) {
		perror(path);
		return 1;
	}
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED) {
		perror(path);
		return 1;
	}
	memcpy(&h, image, sizeof h);
	if (h.e_machine != isa_x64.elf_machine) {
		fprintf(stderr, "%s: not an x86-64 file\n", path);
		return 1;
	}
	printf("%s\n", path);
	measure("scan", scan_pass, image, &h);
	measure("decode", decode_pass, image, &h);
	measure("lift", lift_pass, image, &h);
	return 0;
}
