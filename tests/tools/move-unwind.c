/*
 * move-unwind: pretends that the code of a file moved (tests/lib/moves_build.h)
 * and tries the tables that result.
 *
 *	move-unwind check SEED FILE...	compares with the old tables
 *	move-unwind write SEED FILE OUT	writes the file; prints where things
 *					went, for other readers to compare
 *	move-unwind same FILE OUT	writes the file with tables as if it
 *					had moved to where it is: it runs
 *	move-unwind mutate COUNT FILE...	the same with damaged files
 *	move-unwind time FILE...	how long it takes, how large it is
 *	move-unwind why FILE...		what cannot move, and why
 */
#include <stdlib.h>
#include <time.h>

#include "moves_check.h"
#include "mutants.h"

enum { KEEP = 9, HUGE = 3000 };

#define X PRIx64

/* a file, its tables, and new ones */
struct trial {
	struct image im;
	struct unwind u;
	struct moves_build b;
	struct unwind_out out;
	double seconds;
};

/* processor time since the start */
static double now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* seeds: the code "moves" to where it is */
#define SAME UINT64_MAX

/* opens the file and moves its code; exits if that fails */
static void trial_open(struct trial *t, const char *path, uint64_t seed)
{
	struct err e;

	if (image_open(&t->im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(3);
	}
	unwind_read(&t->u, &t->im);
	if (seed == SAME)
		moves_same(&t->b, &t->im, &t->u);
	else
		moves_build(&t->b, &t->im, &t->u, seed, KEEP, HUGE);
	t->seconds = -now();
	if (unwind_out_make(&t->out, moves_tables(&t->b), &t->im, &t->u,
			    &t->b.m, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	t->seconds += now();
}

static void trial_close(struct trial *t)
{
	unwind_out_free(&t->out);
	moves_build_free(&t->b);
	unwind_free(&t->u);
	image_close(&t->im);
}

/* compares; returns how much is wrong */
static unsigned check(const char *path, uint64_t seed)
{
	struct trial t;
	struct image new;
	struct check c;
	struct err e;
	buffer file = {0};

	trial_open(&t, path, seed);
	moved_file(&t.b, &t.out, &file);
	if (image_parse(&new, path, file.at, file.n, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	check_all(&c, &t.b, &new, &t.out);
	printf("%s: %zu moved, %zu stayed, %zu points, %zu sites, %zu pads, "
	       "%zu types, %zu bytes of lists, %u wrong\n", path, c.moved,
	       c.stayed, c.points, c.sites, c.pads, c.types, c.lists, c.wrong);
	image_close(&new);
	vec_free(&file);
	trial_close(&t);
	return c.wrong;
}

/*
 * Moves the code of a damaged file; returns 0, or -1 if it was refused. What
 * was moved must be described as before, however odd that is.
 */
static int mutant_run(const struct sample *s, const uint8_t *p, size_t n,
		      uint64_t seed)
{
	struct trial t;
	struct image new;
	struct check c;
	struct err e;
	buffer file = {0};
	int ret = -1;

	if (image_parse(&t.im, s->path, p, n, &e) < 0)
		return -1;
	unwind_read(&t.u, &t.im);
	moves_build(&t.b, &t.im, &t.u, seed, KEEP, HUGE);
	if (!unwind_out_make(&t.out, moves_tables(&t.b), &t.im, &t.u, &t.b.m,
			     &e)) {
		moved_file(&t.b, &t.out, &file);
		ret = image_parse(&new, s->path, file.at, file.n, &e);
		if (!ret) {
			check_moves(&c, &t.b, &new);
			if (c.wrong)
				abort();
			image_close(&new);
		}
	} else if (!strstr(e.text, "2 GiB")) {
		fprintf(stderr, "%s\n", e.text);
		abort(); /* what may move can be written */
	}
	vec_free(&file);
	trial_close(&t);
	return ret;
}

/* tries `count` mutants of a file */
static void mutate_all(const char *path, uint64_t count)
{
	struct sample s;
	size_t refused = 0;

	sample_open(&s, path);
	for (size_t i = 0; i < s.im.nsection; i++) {
		const struct section *sec = &s.im.section[i];
		struct mutate_spot spot = {sec->offset, sec->size, 1};

		/* these more often than all the rest */
		if (!strncmp(sec->name, ".eh_frame", 9) ||
		    !strcmp(sec->name, ".gcc_except_table"))
			for (unsigned k = 0; k < 20; k++)
				vec_push(&s.spots, spot);
	}
	for (uint64_t seed = 0; seed < count; seed++) {
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		trial_begin(&s, seed);
		refused += mutant_run(&s, p, n, seed) < 0;
		mem_free(p);
	}
	trial_end();
	printf("%" PRIu64 " mutants, %zu refused: %s\n", count, refused, path);
	sample_close(&s);
}

/* prints parts, instructions, pushes and stubs */
static void print_moves(const struct moves_build *b)
{
	const struct moves *m = &b->m;

	for (size_t i = 0; i < m->moved.n; i++)
		printf("moved %" X " %" X " %" X "\n",
		       m->moved.at[i].old_start, m->moved.at[i].start,
		       m->moved.at[i].end);
	for (size_t i = 0; i < b->insn.n; i++)
		printf("insn %" X " %" X " %" X "\n", b->insn.at[i].old,
		       b->insn.at[i].arrive,
		       b->insn.at[i].start + b->insn.at[i].new_size);
	for (size_t i = 0; i < m->push.n; i++)
		printf("push %" X " %" X " %u\n", m->push.at[i].start,
		       m->push.at[i].end, m->push.at[i].bytes);
	for (size_t i = 0; i < m->stub.n; i++)
		printf("stub %" X " %" X " %" X "\n", m->stub.at[i].start,
		       m->stub.at[i].end, m->stub.at[i].like);
}

/* writes the new file; the exit status */
static int write_file(const char *path, uint64_t seed, const char *out)
{
	FILE *to = fopen(out, "wb");
	struct trial t;
	buffer file = {0};
	bool written;

	trial_open(&t, path, seed);
	if (seed != SAME)
		moved_file(&t.b, &t.out, &file);
	else if (!same_file(&t.b, &t.out, &file))
		return 1;
	written = to && fwrite(file.at, 1, file.n, to) == file.n;
	if (!to || fclose(to) || !written) {
		perror(out);
		return 1;
	}
	if (seed != SAME)
		print_moves(&t.b);
	vec_free(&file);
	trial_close(&t);
	return 0;
}

/* prints seconds and sizes */
static void print_time(const char *path)
{
	struct trial t;
	double checked;

	trial_open(&t, path, 1);
	checked = -now();
	for (size_t i = 0; i < t.u.nfde; i++)
		moves_all(&t.im, &t.u.fde[i]);
	checked += now();
	printf("%s: %zu FDEs, check %.3f s, make %.3f s, hdr %" PRIu64
	       ", lsda %" PRIu64 ", frame %" PRIu64 " bytes\n", path,
	       t.u.nfde, checked, t.seconds, t.out.hdr_size, t.out.lsda_size,
	       t.out.frame_size);
	trial_close(&t);
}

/* prints what cannot move */
static void print_why(const char *path)
{
	struct image im;
	struct unwind u;
	struct err e;

	if (image_open(&im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return;
	}
	unwind_read(&u, &im);
	for (size_t i = 0; i < u.nfde; i++) {
		const char *reason = moves_all(&im, &u.fde[i]);

		if (reason)
			printf("%s: %" X ": %s\n", path, u.fde[i].start,
			       reason);
	}
	unwind_free(&u);
	image_close(&im);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	unsigned wrong = 0;

	if (argc == 5 && !strcmp(what, "write"))
		return write_file(argv[3], strtoull(argv[2], NULL, 10),
				  argv[4]);
	if (argc == 4 && !strcmp(what, "same"))
		return write_file(argv[2], SAME, argv[3]);
	if (!strcmp(what, "check")) {
		for (int i = 3; i < argc; i++)
			wrong += check(argv[i], strtoull(argv[2], NULL, 10));
		return wrong != 0;
	}
	if (!strcmp(what, "mutate")) {
		trial_watch();
		for (int i = 3; i < argc; i++)
			mutate_all(argv[i], strtoull(argv[2], NULL, 10));
		return 0;
	}
	if (strcmp(what, "time") && strcmp(what, "why")) {
		fprintf(stderr, "usage: move-unwind check SEED FILE...\n"
				"       move-unwind same FILE OUT\n"
				"       move-unwind mutate COUNT FILE...\n"
				"       move-unwind write SEED FILE OUT\n"
				"       move-unwind time|why FILE...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		if (!strcmp(what, "time"))
			print_time(argv[i]);
		else
			print_why(argv[i]);
	}
	return 0;
}
