/*
 * sample/jitdump: what a program tells of its code is found by address and time,
 * also if it comes piece by piece; and whatever is in such a file, no more than
 * what is whole is taken, and what is wrong is said.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../progs/sample/jitdump.h"
#include "sample/jit/jitdump.h"
#include "sample/processes/parse.h"
#include "splitmix.h"

enum { ROUNDS = 3000 };

static char where[] = "/tmp/tally-jitdump-XXXXXX";
static const char code[256];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", where, name);
	return path;
}

/* the file, opened as one of this process */
static struct jitdump open_it(void)
{
	const char *path = path_of("jit-1.dump");
	struct jitdump d;
	struct stat s;
	struct err e;

	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(jitdump_open(&d, (uint32_t)getpid(), path, s.st_ino,
				      false, &e), 0);
	return d;
}

static FILE *make(uint64_t flags)
{
	FILE *f = fopen(path_of("jit-1.dump"), "w+");

	assert_non_null(f);
	dump_header(f, flags);
	return f;
}

/* two codes, one after the other at one address; one that moves; a close */
static void fill(FILE *f)
{
	dump_load(f, 100, 0x1000, "first", code, 64, 1);
	dump_load(f, 150, 0x9000, "moves", code, 32, 2);
	dump_prefix(f, 2, 24, 180); /* lines, which are not read */
	dump_long(f, 0);
	dump_load(f, 200, 0x1020, "second", code, 64, 3);
	dump_move(f, 300, 0x9000, 0xa000, 32, 2);
	dump_close(f, 400);
	dump_load(f, 500, 0x5000, "behind", code, 64, 4);
	fflush(f);
}

/* the name of what was there then, or "" */
static const char *name_at(const struct jitdump *d, uint64_t address,
			   uint64_t from, uint64_t to)
{
	static char name[JITDUMP_NAME];
	const struct jitdump_code *c = jitdump_find(d, address, from, to);

	if (!c || !jitdump_name(d, c, name))
		*name = 0;
	return name;
}

static void test_names(void **state)
{
	(void)state;
	assert_true(jitdump_is("/tmp/x/jit-12.dump"));
	assert_false(jitdump_is("/tmp/jit-.dump"));
	assert_false(jitdump_is("/tmp/jit-12.dump.so"));
	assert_false(jitdump_is("/tmp/jit-12x.dump"));
	assert_false(jitdump_is("jit-12.dump"));
}

static void check_times(const struct jitdump *d)
{
	assert_string_equal(name_at(d, 0x1000, 120, 120), "first");
	assert_string_equal(name_at(d, 0x103f, 199, 199), "first");
	assert_string_equal(name_at(d, 0x1020, 200, 200), "second");
	assert_string_equal(name_at(d, 0x101f, 900, 900), "first");
	assert_string_equal(name_at(d, 0x105f, 900, 900), "second");
	/* it was not told when; where there was nothing before it must be it */
	assert_string_equal(name_at(d, 0x1020, 150, 250), "");
	assert_string_equal(name_at(d, 0x1050, 150, 250), "second");
	assert_string_equal(name_at(d, 0x1050, 100, 150), "");
	assert_string_equal(name_at(d, 0x9010, 200, 200), "moves");
	assert_string_equal(name_at(d, 0xa010, 300, 300), "moves");
	assert_string_equal(name_at(d, 0xa010, 200, 299), "");
	assert_string_equal(name_at(d, 0x5000, 900, 900), "");
	assert_false(jitdump_find(d, 0x1000, 900, 900)->alone);
	assert_true(jitdump_find(d, 0x9000, 900, 900)->alone);
}

static void test_times(void **state)
{
	FILE *f = make(0);
	struct jitdump d = open_it();

	(void)state;
	fill(f);
	fclose(f);
	jitdump_read(&d, true);
	assert_int_equal(d.trouble.code, 0);
	check_times(&d);
	jitdump_close(&d);
}

/* where the answer says that a sample is: is it by its place, and the offset */
static void ask_sample(FILE *f, uint64_t address, uint64_t from, uint64_t to,
		       uint8_t *placed, uint64_t *offset)
{
	struct parse_sample x = {address, from, to};
	buffer question = {0}, answer = {0};
	struct bytes b;
	char *trouble;

	buffer_uint(&question, 1, PARSE_DUMP);
	parse_put_text(&question, path_of("jit-1.dump"), PARSE_PATH);
	buffer_uint(&question, 1, true);
	buffer_uint(&question, 8, 0);
	buffer_uint(&question, 8, 1);
	buffer_bytes(&question, &x, sizeof x);
	parse_answer(fileno(f), bytes_window(question.at, question.n, 0),
		     &answer);
	b = bytes_window(answer.at, answer.n, 0);
	trouble = parse_take_text(&b, PARSE_NAME);
	assert_string_equal(trouble, "");
	mem_free(trouble);
	assert_int_equal(bytes_uint(&b, 8), 0);
	*placed = bytes_u8(&b);
	*offset = bytes_uint(&b, 8);
	assert_false(b.bad);
	vec_free(&question);
	vec_free(&answer);
}

/* a sample that may be of either code is at an address of neither */
static void test_unsure(void **state)
{
	FILE *f = make(0);
	uint64_t offset;
	uint8_t placed;

	(void)state;
	fill(f);
	ask_sample(f, 0x9010, 200, 200, &placed, &offset);
	assert_int_equal(placed, 0);
	assert_int_equal(offset, 0x9010);
	ask_sample(f, 0x1020, 120, 120, &placed, &offset);
	assert_int_equal(placed, 1);
	assert_true(offset < 4096);
	ask_sample(f, 0x1020, 150, 250, &placed, &offset);
	assert_int_equal(placed, 1);
	assert_true(offset > 1ul << 60 && offset <= INT64_MAX);
	/* there may be some later */
	ask_sample(f, 0x7000, 150, 250, &placed, &offset);
	assert_int_equal(placed, 2);
	fclose(f);
}

/* of a clock that is not ours the last one counts */
static void test_other_clock(void **state)
{
	FILE *f = make(1);
	struct jitdump d = open_it();

	(void)state;
	fill(f);
	fclose(f);
	jitdump_read(&d, true);
	assert_string_equal(name_at(&d, 0x1020, 50, 60), "second");
	assert_string_equal(name_at(&d, 0x1010, 50, 60), "first");
	jitdump_close(&d);
}

/* what is in the file of fill() */
static size_t whole(uint8_t *to, size_t room)
{
	FILE *f = make(0);
	size_t n;

	fill(f);
	rewind(f);
	n = fread(to, 1, room, f);
	fclose(f);
	return n;
}

static void write_bytes(const uint8_t *p, size_t n, int how)
{
	int fd = open(path_of("jit-1.dump"), O_WRONLY | O_CREAT | how, 0600);

	assert_int_equal(write(fd, p, n), (ssize_t)n);
	close(fd);
}

/* byte by byte it becomes the same; none is ever wrong, until it ends there */
static void test_pieces(void **state)
{
	uint8_t raw[4096];
	size_t n = whole(raw, sizeof raw);
	struct jitdump d;

	(void)state;
	write_bytes(raw, 0, O_TRUNC);
	d = open_it();
	for (size_t i = 0; i < n; i++) {
		write_bytes(raw + i, 1, O_APPEND);
		jitdump_read(&d, false);
		assert_int_equal(d.trouble.code, 0);
	}
	check_times(&d);
	jitdump_close(&d);
	for (size_t i = 1; i < 40 + 120; i++) {
		write_bytes(raw, i, O_TRUNC);
		d = open_it();
		jitdump_read(&d, true);
		assert_true(i == 40 || d.trouble.code);
		assert_int_equal(d.code.n, 0);
		jitdump_close(&d);
	}
}

/* it was read, and is shorter now */
static void test_shorter(void **state)
{
	uint8_t raw[4096];
	size_t n = whole(raw, sizeof raw) - 200; /* not up to the close */
	struct jitdump d;

	(void)state;
	write_bytes(raw, n, O_TRUNC);
	d = open_it();
	jitdump_read(&d, false);
	assert_true(d.code.n > 0);
	assert_int_equal(truncate(d.path, 10), 0);
	jitdump_read(&d, false);
	assert_non_null(strstr(d.trouble.text, "shorter"));
	assert_string_equal(name_at(&d, 0x1000, 120, 120), "");
	jitdump_close(&d);
}

/* words of all kinds in all places: it ends, and what it says is in bounds */
static void test_garbage(void **state)
{
	static const uint64_t words[] = {0, 1, 15, 16, 56, 57, 64, 4096,
					 INT32_MAX, UINT32_MAX, INT64_MAX,
					 UINT64_MAX};
	uint64_t seed = 3;
	size_t refused = 0;
	uint8_t raw[4096], bad[4096];
	size_t n = whole(raw, sizeof raw);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct jitdump d;

		memcpy(bad, raw, n);
		for (uint64_t k = splitmix(&seed) % 4 + 1; k--;) {
			size_t size = splitmix(&seed) % 2 ? 4 : 8;
			size_t at = splitmix(&seed) % (n / 4 - 1) * 4;
			uint64_t word = splitmix(&seed) % 3 ?
				words[splitmix(&seed) % 12] : splitmix(&seed);

			memcpy(bad + at, &word, size);
		}
		write_bytes(bad, n, O_TRUNC);
		d = open_it();
		jitdump_read(&d, true);
		refused += d.trouble.code != 0;
		for (size_t k = 0; k < d.code.n; k++) {
			const struct jitdump_code *c = &d.code.at[k];

			assert_true(c->start < c->end);
			assert_true(c->name < c->place && c->place < n);
			name_at(&d, c->start, c->since, c->since);
		}
		jitdump_close(&d);
	}
	assert_true(refused > ROUNDS / 10);
}

/* links, other files, what is no file */
static void test_trust(void **state)
{
	char path[128], other[128];
	struct jitdump d;
	struct stat s;
	struct err e;
	uint32_t self = (uint32_t)getpid();

	(void)state;
	fclose(make(0));
	strcpy(path, path_of("jit-1.dump"));
	strcpy(other, path_of("jit-2.dump"));
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(jitdump_open(&d, self, other, s.st_ino, false,
				      &e), -1);
	assert_int_equal(d.fd, -1);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(jitdump_open(&d, self, other, s.st_ino, false,
				      &e), -1);
	assert_int_equal(jitdump_open(&d, self, path, s.st_ino + 1,
				      false, &e), -1);
	assert_non_null(strstr(e.text, "another file"));
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(stat(other, &s), 0);
	assert_int_equal(jitdump_open(&d, self, other, s.st_ino, false,
				      &e), -1);
	assert_non_null(strstr(e.text, "regular file"));
	assert_int_equal(unlink(other), 0);
}

/* a process that has ended, and was not waited for, has no folders:
   its file is found where we see it, if it is ours */
static void test_ended(void **state)
{
	struct jitdump d;
	siginfo_t ended;
	struct stat s;
	struct err e;
	pid_t child;

	(void)state;
	fclose(make(0));
	assert_int_equal(stat(path_of("jit-1.dump"), &s), 0);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &ended,
				WEXITED | WNOWAIT), 0);
	assert_int_equal(jitdump_open(&d, (uint32_t)child,
				      path_of("jit-1.dump"), s.st_ino, false,
				      &e), 0);
	jitdump_close(&d);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_other_clock),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_shorter),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_ended),
	};
	int failed;

	if (!mkdtemp(where))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path_of("jit-1.dump"));
	rmdir(where);
	return failed;
}
