/*
 * made_trace: parts of a trace that no program has written: bits of loops that
 * go round again and again, with branches that nobody can foresee among them,
 * indirect jumps of few targets each, and stacks that are copied where a part
 * begins. About what programs write, for tests and benches.
 */
#ifndef TESTS_MADE_TRACE_H
#define TESTS_MADE_TRACE_H

#include <stdbool.h>

#include "splitmix.h"
#include "trace/file/chunk.h"

enum made_mix {
	MADE_BRANCHES,	/* of a program with its branches alone */
	MADE_ADDRESSES, /* and with the addresses that cannot be regenerated */
};

struct made_trace {
	uint64_t seed;
	enum made_mix mix;
	uint64_t clock, data;
	uint64_t acc;	/* bits that are not written yet, below a one bit */
	unsigned loop, left; /* which one it is in, and how often it turns */
	uint64_t *to;	/* the part */
	size_t n;
};

enum {
	MADE_LOOPS = 200,
	MADE_STACK = 60,  /* words of it that are copied */
	MADE_NOISE = 60,  /* one round of about three has a bit turned */
	MADE_JUMPS = 40,  /* one round of so many has an indirect jump */
	MADE_ROOM = 128,  /* words that one round needs at most */
};

/* where a program has what it has */
#define MADE_CODE_AT UINT64_C(0x555555550000)
#define MADE_DATA_AT UINT64_C(0x7f0010000000)
#define MADE_STACK_AT UINT64_C(0x7ffd10000000)

static inline void made_bit(struct made_trace *m, unsigned bit)
{
	m->acc = m->acc << 1 | bit;
	if (m->acc >> 62) {
		m->to[m->n++] = m->acc;
		m->acc = 1;
	}
}

static inline void made_record(struct made_trace *m, uint8_t kind,
			       uint64_t number, const uint64_t *word,
			       unsigned n)
{
	m->to[m->n++] = number << 16 | (uint64_t)(n + 1) << 8 | kind;
	m->to[m->n++] = m->acc;
	m->acc = 1;
	for (unsigned i = 0; i < n; i++)
		m->to[m->n++] = word[i];
}

/* where the part begins: the time, a processor, registers and a stack */
static inline void made_begin(struct made_trace *m)
{
	uint64_t word[16 + MADE_STACK];

	m->clock += 900 + splitmix(&m->seed) % 200;
	word[0] = m->clock;
	word[1] = splitmix(&m->seed) % 4;
	for (unsigned i = 2; i < 16 + MADE_STACK; i++)
		word[i] = i % 3 ? MADE_STACK_AT + i * 8 + m->loop % 4 * 32 :
				  MADE_CODE_AT + i * 0x123;
	made_record(m, 1, m->loop, word, 16 + MADE_STACK);
}

/* one round of the loop that it is in */
static inline void made_round(struct made_trace *m)
{
	uint64_t pattern = m->loop * 0x9e3779b97f4a7c15u + 12345, word[4];
	unsigned length = 2 + (unsigned)(pattern >> 59), noise;

	if (!m->left--) {
		uint64_t r = splitmix(&m->seed);

		/* few loops are most of a program */
		m->loop = (unsigned)(r % MADE_LOOPS * (r >> 32 & 0xff) / 256);
		m->left = (unsigned)(r >> 40) % 60;
	}
	noise = (unsigned)splitmix(&m->seed);
	for (unsigned i = 0; i < length; i++)
		made_bit(m, (pattern >> i & 1) ^ (i == noise % MADE_NOISE));
	noise >>= 8;
	if (m->mix == MADE_ADDRESSES) {
		for (unsigned i = 0; i < 4; i++)
			word[i] = MADE_DATA_AT + m->loop * 0x10000 + i * 640 +
				  (m->data += 8) % 0x8000;
		made_record(m, 3, m->loop, word, 4);
	}
	if (!(noise % MADE_JUMPS)) {
		word[0] = MADE_CODE_AT + m->loop * 64 + (noise >> 8) % 3 * 16;
		made_record(m, 2, m->loop * 7, word, 1);
	}
}

/* fills a part of TRACE_PART_WORDS; returns how many words it has */
static inline size_t made_part(struct made_trace *m, uint64_t *to)
{
	m->to = to;
	m->n = 0;
	if (!m->acc)
		m->acc = 1;
	made_begin(m);
	while (m->n + MADE_ROOM <= TRACE_PART_WORDS)
		made_round(m);
	return m->n;
}

#endif
