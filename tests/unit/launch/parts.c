/*
 * launch/parts: what the launcher and the audit module agree on: hash,
 * records, names of libraries; and files of others that they read: broken
 * ones are refused, and nothing is read beyond their end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/needs.h"
#include "launch/closure.h"
#include "abi/libs.h"
#include "abi/cache_record.h"
#include "splitmix.h"

enum { MUTANTS = 1500 };

/* vectors of xxHash's own documentation and of other implementations */
static void test_hash(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} known[] = {
		{"", 0xef46db3751d8e999u},
		{"a", 0xd24ec4f1a98c6e5bu},
		{"abc", 0x44bc2cf5ad770999u},
		{"Nobody inspects the spammish repetition",
		 0xfbcea83c8a378bf1u},
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_int_equal(hash_bytes(known[i].text,
					    strlen(known[i].text), 0),
				 known[i].hash);
}

/* a record with path and reason; its size */
static size_t make_record(char *bytes)
{
	static const char path[] = "/usr/lib/libz.so.1", why[] = "because";
	struct record *r = (struct record *)bytes;
	size_t n = sizeof *r + sizeof path + sizeof why;

	memset(bytes, 0, RECORD_MAX);
	r->magic = RECORD_MAGIC;
	r->path_len = sizeof path - 1;
	r->reason_len = sizeof why - 1;
	memcpy(bytes + sizeof *r, path, sizeof path);
	memcpy(bytes + sizeof *r + sizeof path, why, sizeof why);
	r->sum = hash_bytes(&r->key, n - 16, r->magic);
	return n;
}

static void test_record(void **state)
{
	static union {
		struct record r;
		char bytes[RECORD_MAX];
	} good, bad;
	size_t n = make_record(good.bytes);

	(void)state;
	assert_true(record_valid(&good.r, n));
	assert_string_equal(record_path(&good.r), "/usr/lib/libz.so.1");
	for (size_t i = 0; i < n; i++) {
		assert_false(record_valid(&good.r, i));
		bad = good;
		bad.bytes[i] ^= 1;
		assert_false(record_valid(&bad.r, n));
	}
	assert_false(record_valid(&good.r, n + 1));
}

static void test_libs(void **state)
{
	(void)state;
	assert_true(libs_have("all", "libz.so.1"));
	assert_false(libs_have("all", "ld-linux-x86-64.so.2"));
	assert_false(libs_have("none", "libz.so.1"));
	assert_true(libs_have("libz", "libz.so.1"));
	assert_true(libs_have("libc,libz.so", "libz.so.1"));
	assert_true(libs_have("libz.so.1", "libz.so.1"));
	assert_false(libs_have("lib", "libz.so.1"));
	assert_false(libs_have("libz.so.1.2", "libz.so.1"));
	assert_false(libs_have("libzz,", "libz.so.1"));
	assert_false(libs_have(",,", "libz.so.1"));
	assert_false(libs_have("", ".so"));
	assert_true(libs_have("none,libz", "libz.so.1"));
}

/* all bytes of a file, to be freed */
static uint8_t *load(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*n);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

static void save(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* a few bytes among the first `head` are changed, or the end is cut off */
static size_t mutate(uint8_t *bytes, size_t n, size_t head, uint64_t *seed)
{
	for (unsigned i = 0; i < 1 + splitmix(seed) % 4; i++)
		bytes[splitmix(seed) % head] = splitmix(seed) % 3 ?
			(uint8_t)splitmix(seed) : 0xff;
	return splitmix(seed) % 4 ? n : splitmix(seed) % n;
}

static void test_needs(void **state)
{
	char path[] = "/tmp/tally-needs-XXXXXX";
	struct needs needs;
	struct err e;
	uint64_t seed = 3;
	uint8_t *good, *bad;
	unsigned read = 0;
	size_t n;

	(void)state;
	assert_int_equal(needs_read(&needs, "/proc/self/exe", &e), 0);
	assert_true(needs.machine->host && needs.loads && needs.dynamic);
	assert_true(needs.needed.n > 0 && *needs.interp == '/');
	needs_free(&needs);
	close(mkstemp(path));
	good = load("/bin/true", &n);
	bad = malloc(n);
	for (unsigned i = 0; i < MUTANTS; i++) {
		memcpy(bad, good, n);
		save(path, bad, mutate(bad, n, i % 2 ? 1024 : n, &seed));
		if (!needs_read(&needs, path, &e)) {
			read++;
			needs_free(&needs);
		}
	}
	assert_true(read > 0 && read < MUTANTS);
	free(good);
	free(bad);
	unlink(path);
}

/* a small ld.so.cache: one library of x86-64 */
static size_t make_ldcache(uint8_t *p)
{
	static const char names[] = "libz.so.1\0/lib/libz.so.1";
	uint32_t head[12] = {0}, entry[6] = {0x303, 72, 82};
	size_t n = sizeof head + sizeof entry;

	memcpy(head, "glibc-ld.so.cache1.1", 20);
	head[5] = 1;
	memcpy(p, head, sizeof head);
	memcpy(p + sizeof head, entry, sizeof entry);
	memcpy(p + n, names, sizeof names);
	return n + sizeof names;
}

static void test_ldcache(void **state)
{
	char path[] = "/tmp/tally-cache-XXXXXX";
	uint8_t good[256], bad[256];
	size_t n = make_ldcache(good);
	struct ldcache l;
	uint64_t seed = 5;
	uint32_t i = 0;

	(void)state;
	close(mkstemp(path));
	save(path, good, n);
	ldcache_open(&l, path);
	assert_string_equal(ldcache_next(&l, "libz.so.1", 0x303, &i),
			    "/lib/libz.so.1");
	assert_null(ldcache_next(&l, "libz.so.1", 0x303, &i));
	i = 0;
	assert_null(ldcache_next(&l, "libz.so.1", 0xa03, &i));
	ldcache_close(&l);
	for (unsigned k = 0; k < MUTANTS; k++) {
		memcpy(bad, good, n);
		save(path, bad, mutate(bad, n, n, &seed));
		ldcache_open(&l, path);
		for (i = 0; ldcache_next(&l, "libz.so.1", 0x303, &i);)
			;
		ldcache_close(&l);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_libs),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_ldcache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
