/*
 * make_profile: live profiles as running programs leave them, and files that
 * look rewritten: an ELF header and a map.
 */
#ifndef TESTS_MAKE_PROFILE_H
#define TESTS_MAKE_PROFILE_H

#include <elf.h>
#include <stdio.h>

#include "abi/calls.h"
#include "abi/phases.h"
#include "abi/running.h"
#include "count/map/map.h"
#include "rewrite/output/reverse_map.h"

static inline bool write_whole(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	bool good = f && fwrite(bytes, 1, n, f) == n;

	return f && !fclose(f) && good;
}

/* a file with nothing but the map and the way back (or NULL) in it */
static inline bool write_carrier(const char *path, const struct map *m,
				 const buffer *back)
{
	static const char names[] = "\0.shstrtab\0" MAP_SECTION
				    "\0" REVERSE_MAP_SECTION;
	struct map_bytes packed = {0};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64,
				    ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN, .e_machine = m->machine,
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = back ? 4 : 3,
			.e_shstrndx = 1, .e_ehsize = sizeof h};
	Elf64_Shdr s[4] = {
		[1] = {.sh_name = 1, .sh_type = SHT_STRTAB,
		       .sh_offset = sizeof h, .sh_size = sizeof names},
		[2] = {.sh_name = 11, .sh_type = SHT_PROGBITS},
		[3] = {.sh_name = 11 + sizeof MAP_SECTION,
		       .sh_type = SHT_PROGBITS},
	};
	buffer b = {0};
	bool good;

	map_pack(m, &packed);
	s[2].sh_offset = sizeof h + sizeof names;
	s[2].sh_size = packed.v.n;
	s[3].sh_offset = s[2].sh_offset + s[2].sh_size;
	s[3].sh_size = back ? back->n : 0;
	h.e_shoff = s[3].sh_offset + s[3].sh_size;
	buffer_bytes(&b, &h, sizeof h);
	buffer_bytes(&b, names, sizeof names);
	vec_append(&b, &packed.v);
	if (back)
		vec_append(&b, back);
	buffer_bytes(&b, s, h.e_shnum * sizeof *s);
	good = write_whole(path, b.at, b.n);
	vec_free(&b);
	vec_free(&packed.v);
	return good;
}

static inline bool write_map_file(const char *path, const struct map *m)
{
	return write_carrier(path, m, NULL);
}

/* zeroes up to `n` bytes in all */
static inline void live_reach(buffer *b, size_t n)
{
	vec_reserve(b, n - b->n);
	memset(b->at + b->n, 0, n - b->n);
	b->n = n;
}

static inline size_t live_round(size_t n)
{
	return (n + PROFILE_UNIT - 1) / PROFILE_UNIT * PROFILE_UNIT;
}

/* the header, and room up to the first chunk */
static inline void live_begin(buffer *b, uint16_t machine, const char *options,
			      const char *command)
{
	struct profile_header h = {
		.magic = PROFILE_MAGIC, .version = PROFILE_VERSION,
		.machine = machine, .started = 1700000000000000000u,
		.options_len = (uint32_t)strlen(options),
		.command_len = (uint32_t)strlen(command),
	};

	b->n = 0;
	buffer_bytes(b, &h, sizeof h);
	buffer_bytes(b, options, strlen(options) + 1);
	buffer_bytes(b, command, strlen(command) + 1);
	live_reach(b, PROFILE_FIRST);
}

static inline struct profile_header *live_header(buffer *b)
{
	return (struct profile_header *)b->at;
}

static inline struct profile_chunk live_chunk(const buffer *b, size_t size,
					      unsigned kind, uint32_t process)
{
	return (struct profile_chunk){.magic = CHUNK_MAGIC, .at = b->n,
				      .size = live_round(size), .kind = kind,
				      .process = process};
}

static inline void live_process(buffer *b, uint32_t number, uint32_t pid,
				uint32_t parent, const char *name)
{
	struct chunk_process c = {.pid = pid, .parent = parent,
				  .origin = parent ? PROCESS_FORKED :
						     PROCESS_STARTED,
				  .ended = ENDED_BY_ITSELF,
				  .name_len = (uint32_t)strlen(name)};
	size_t end;

	c.chunk = live_chunk(b, sizeof c + strlen(name) + 1, CHUNK_PROCESS,
			     number);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, name, strlen(name) + 1);
	live_reach(b, end);
	live_header(b)->nprocess++;
}

static inline void live_counters(buffer *b, uint32_t process,
				 const struct map *m, const char *file,
				 uint32_t block, const uint64_t *value)
{
	struct chunk_counters c = {.ncounter = m->ncounter, .block = block,
				   .path_len = (uint32_t)strlen(file)};
	size_t end, start = b->n;

	memcpy(c.id, m->id, PROFILE_ID);
	c.first = live_round(sizeof c + strlen(file) + 1);
	c.chunk = live_chunk(b, c.first + 8 * (size_t)m->ncounter + 1,
			     CHUNK_COUNTERS, process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, file, strlen(file) + 1);
	live_reach(b, start + c.first);
	buffer_bytes(b, value, 8 * (size_t)m->ncounter);
	live_reach(b, end);
}

/* running counters of a block, all words */
static inline void live_running(buffer *b, uint32_t process, uint32_t block,
				uint32_t nevent,
				const uint64_t word[RUNNING_WORDS])
{
	struct chunk_running c = {.first = PROFILE_UNIT, .block = block,
				  .nevent = nevent};
	size_t start = b->n;

	c.chunk = live_chunk(b, 2 * PROFILE_UNIT, CHUNK_RUNNING, process);
	buffer_bytes(b, &c, sizeof c);
	live_reach(b, start + c.first);
	buffer_bytes(b, word, RUNNING_WORDS * sizeof *word);
	live_reach(b, start + 2 * PROFILE_UNIT);
}

/* phases of a block: *c but for its chunk, and all words behind it */
static inline void live_phases(buffer *b, uint32_t process,
			       struct chunk_phases c, const uint64_t *word)
{
	size_t end;

	c.chunk = live_chunk(b, phases_size(c.nevent), CHUNK_PHASES, process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, word, phases_size(c.nevent) - sizeof c);
	live_reach(b, end);
}

/* a record of calls by a signal, of what is not counted, and its sums */
static inline void live_calls(buffer *b, uint32_t process, uint32_t nevent,
			      uint64_t signal, uint64_t flags,
			      const uint64_t *sum)
{
	struct chunk_calls c = {.nevent = nevent};
	struct more_calls whose = {.site = signal};
	struct call_record r = {.self = 1, .flags = flags};
	size_t end;

	c.chunk = live_chunk(b, PROFILE_UNIT, CHUNK_CALLS, process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, &whose, sizeof whose);
	buffer_bytes(b, &r, sizeof r);
	buffer_bytes(b, sum, (2 * nevent + 1) * sizeof *sum);
	live_reach(b, end);
}

/* records of threads, the values of each behind it */
static inline void live_threads(buffer *b, uint32_t process, uint32_t nevent,
				const struct thread_record *r,
				const uint64_t *value, uint32_t n)
{
	struct chunk_threads c = {.nrecord = n, .nevent = nevent};
	size_t end;

	c.size = (uint32_t)(sizeof *r + 2 * nevent * sizeof *value);
	c.chunk = live_chunk(b, sizeof c + (size_t)n * c.size, CHUNK_THREADS,
			     process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	for (uint32_t i = 0; i < n; i++) {
		buffer_bytes(b, &r[i], sizeof *r);
		buffer_bytes(b, value + 2 * nevent * i,
			     2 * nevent * sizeof *value);
	}
	live_reach(b, end);
}

/* an image that a process runs uncounted */
static inline void live_left(buffer *b, uint32_t process, enum left_why why,
			     const char *path, const char *reason)
{
	struct chunk_left c = {.why = why, .path_len = (uint32_t)strlen(path),
			       .reason_len = (uint32_t)strlen(reason)};
	size_t end;

	c.chunk = live_chunk(b, sizeof c + strlen(path) + strlen(reason) + 2,
			     CHUNK_LEFT, process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, path, strlen(path) + 1);
	buffer_bytes(b, reason, strlen(reason) + 1);
	live_reach(b, end);
}

static inline void live_pairs(buffer *b, uint32_t process,
			      const struct pair *pair, uint64_t n)
{
	struct chunk_pairs c = {.npair = n};
	size_t end;

	c.chunk = live_chunk(b, sizeof c + n * sizeof *pair, CHUNK_PAIRS,
			     process);
	end = b->n + c.chunk.size;
	buffer_bytes(b, &c, sizeof c);
	buffer_bytes(b, pair, n * sizeof *pair);
	live_reach(b, end);
}

/* room that somebody took and never filled */
static inline void live_gap(buffer *b, unsigned pages)
{
	live_reach(b, b->n + (size_t)pages * PROFILE_UNIT);
}

static inline bool live_write(buffer *b, const char *path)
{
	live_header(b)->end = b->n;
	return write_whole(path, b->at, b->n);
}

#endif
