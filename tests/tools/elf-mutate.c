/*
 * elf-mutate: damaged ELF files.
 *
 *	elf-mutate run COUNT FILE...	reads COUNT mutants of each file with
 *					all of src/elf; says how it went
 *	elf-mutate write SEED FILE OUT	writes one of them
 *
 * Each mutant has its own seed, 0 to COUNT-1. A mutant that crashes, hangs
 * or breaks a promise ends the run, and stderr says which it was.
 */
#include <sys/resource.h>

#include "elf_walk.h"
#include "mutants.h"

/* reads `count` mutants of a file */
static void run(const char *path, uint64_t count)
{
	struct sample s;
	size_t refused = 0;

	sample_open(&s, path);
	for (uint64_t seed = 0; seed < count; seed++) {
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		trial_begin(&s, seed);
		refused += walk_image(path, p, n) < 0;
		mem_free(p);
	}
	trial_end();
	printf("%" PRIu64 " mutants, %zu refused: %s\n", count, refused, path);
	sample_close(&s);
}

/* writes one mutant */
static int write_one(const char *path, uint64_t seed, const char *out)
{
	struct sample s;
	int status;

	sample_open(&s, path);
	status = sample_write(&s, seed, out);
	sample_close(&s);
	return status;
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_one(argv[3], strtoull(argv[2], NULL, 10),
				 argv[4]);
	if (argc < 4 || strcmp(argv[1], "run")) {
		fprintf(stderr, "usage: elf-mutate run COUNT FILE...\n"
				"       elf-mutate write SEED FILE OUT\n");
		return 2;
	}
	trial_watch();
	for (int i = 3; i < argc; i++)
		run(argv[i], strtoull(argv[2], NULL, 10));
	getrusage(RUSAGE_SELF, &usage);
	printf("peak %ld KB\n", usage.ru_maxrss);
	return 0;
}
