/* jitdump: writes what perf's tools call so, for programs and tests. */
#ifndef PROGS_SAMPLE_JITDUMP_H
#define PROGS_SAMPLE_JITDUMP_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void dump_word(FILE *f, uint32_t x)
{
	fwrite(&x, sizeof x, 1, f);
}

static inline void dump_long(FILE *f, uint64_t x)
{
	fwrite(&x, sizeof x, 1, f);
}

static inline void dump_header(FILE *f, uint64_t flags)
{
	dump_word(f, 0x4a695444);
	dump_word(f, 1);
	dump_word(f, 40);
	dump_word(f, 0); /* the machine */
	dump_word(f, 0);
	dump_word(f, (uint32_t)getpid());
	dump_long(f, 0);
	dump_long(f, flags);
}

static inline void dump_prefix(FILE *f, uint32_t what, uint64_t size,
			       uint64_t time)
{
	dump_word(f, what);
	dump_word(f, (uint32_t)size);
	dump_long(f, time);
}

static inline void dump_who(FILE *f, uint64_t address)
{
	dump_word(f, (uint32_t)getpid());
	dump_word(f, (uint32_t)getpid());
	dump_long(f, address);
}

static inline void dump_load(FILE *f, uint64_t time, uint64_t address,
			     const char *name, const void *code, size_t n,
			     uint64_t number)
{
	dump_prefix(f, 0, 56 + strlen(name) + 1 + n, time);
	dump_who(f, address);
	dump_long(f, address);
	dump_long(f, n);
	dump_long(f, number);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, n, 1, f);
}

static inline void dump_move(FILE *f, uint64_t time, uint64_t from,
			     uint64_t to, size_t n, uint64_t number)
{
	dump_prefix(f, 1, 64, time);
	dump_who(f, to);
	dump_long(f, from);
	dump_long(f, to);
	dump_long(f, n);
	dump_long(f, number);
}

static inline void dump_close(FILE *f, uint64_t time)
{
	dump_prefix(f, 3, 16, time);
}

#endif
