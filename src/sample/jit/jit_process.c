/* jit_process: see jit_process.h. */
#include "sample/jit/jit_process.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "sample/processes/parse.h"
#include "sample/processes/proc.h"

enum {
	NAMELESS = 1 << 12,   /* addresses that may get a name later */
	NAME_BYTES = 2 << 20, /* of names that wait to be stored */
	OFTEN = 5,            /* that reading was late: it is not tried again */
};

struct jit_process *jit_process_new(uint32_t pid)
{
	struct jit_process *m = NEW_ARRAY(struct jit_process, 1);

	*m = (struct jit_process){.pid = pid, .map = -1, .dump.fd = -1};
	return m;
}

void jit_process_map(struct jit_process *m, int fd)
{
	if (m->map >= 0)
		close(m->map);
	m->map = fd;
}

/* a program maps one once; after an exec the process may begin a new one */
int jit_process_dump(struct jit_process *m, const char *path, uint64_t inode,
		     bool gone, struct err *e)
{
	if (m->dump.fd >= 0 && m->dump.inode == inode)
		return 0;
	jitdump_close(&m->dump);
	m->looked = false;
	return jitdump_open(&m->dump, m->pid, path, inode, gone, e);
}

/* --- what another process reads for us */

/* the answer about a file; false: there is none, or no time for one */
static bool ask(struct jit_process *m, struct parser *p, int fd,
		const buffer *question, buffer *answer)
{
	uint64_t began = sandbox_clock();
	enum parser_answer got = parser_ask(p, fd, question, answer);
	uint64_t took = sandbox_clock() - began;

	/* it may be that the processor was busy, but not for ever */
	if (took && got == PARSER_NO_TIME)
		m->late++;
	if (took || got == PARSER_ANSWERED)
		m->cost = took;
	if (got == PARSER_FAILED || m->late >= OFTEN)
		err_set(&m->trouble, ERR_INPUT,
			"names of code that process %" PRIu32
			" makes are not read any more: what it tells "
			"took too long, or too much memory",
			m->pid);
	return got == PARSER_ANSWERED;
}

/* as they are in an answer; no more than there is room for */
static void take_names(struct jit_process *m, struct bytes *b)
{
	uint64_t n = bytes_uint(b, 8);

	for (; n && bytes_left(b) && !b->bad; n--) {
		struct made_name x = {.placed = bytes_u8(b)};
		char *name;

		x.is.start = bytes_uint(b, 8);
		x.is.end = bytes_uint(b, 8);
		name = parse_take_text(b, PARSE_NAME);
		m->text_size += strlen(name) + sizeof x;
		if (*name && x.is.start < x.is.end && x.is.end <= INT64_MAX &&
		    m->text_size < NAME_BYTES) {
			x.is.name = arena_string(&m->text, name, strlen(name));
			vec_push(&m->name, x);
		}
		mem_free(name);
	}
}

void jit_process_name(struct jit_process *m, struct parser *p, const run *r)
{
	buffer question = {0}, answer = {0};
	struct bytes b;

	if (m->map < 0 || !r->n)
		return;
	buffer_uint(&question, 1, PARSE_MAP);
	buffer_uint(&question, 8, r->n);
	for (size_t i = 0; i < r->n; i++)
		buffer_uint(&question, 8, r->at[i].offset);
	if (ask(m, p, m->map, &question, &answer)) {
		b = bytes_window(answer.at, answer.n, 0);
		take_names(m, &b);
	} else if (m->trouble.code) {
		jit_process_map(m, -1);
	}
	vec_free(&question);
	vec_free(&answer);
}

static void put_question(const struct jit_process *m, buffer *q)
{
	buffer_uint(q, 1, PARSE_DUMP);
	parse_put_text(q, m->dump.path, PARSE_PATH);
	buffer_uint(q, 1, !proc_is_alive(m->pid));
	buffer_uint(q, 8, m->nameless.n);
	buffer_bytes(q, m->nameless.at, m->nameless.n * 8);
	buffer_uint(q, 8, m->hit.n);
	for (size_t i = 0; i < m->hit.n; i++) {
		const struct made_hit *x = &m->hit.at[i];
		struct parse_sample s = {x->address, x->from, x->to};

		buffer_bytes(q, &s, sizeof s);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* what has no name is asked for again; each is there once */
static void remember(struct jit_process *m, uint64_t address)
{
	size_t n = 0;

	vec_push(&m->nameless, address);
	if (m->nameless.n < 2 * NAMELESS)
		return;
	mem_sort(m->nameless.at, m->nameless.n, sizeof address, by_value);
	for (size_t i = 0; i < m->nameless.n && n < NAMELESS; i++)
		if (!n || m->nameless.at[n - 1] != m->nameless.at[i])
			m->nameless.at[n++] = m->nameless.at[i];
	m->nameless.n = n;
}

static void take_nameless(struct jit_process *m, struct bytes *b)
{
	uint64_t n = bytes_uint(b, 8);

	m->nameless.n = 0;
	for (; n && bytes_left(b) >= 8; n--)
		remember(m, bytes_uint(b, 8));
}

/* what the parser found wrong with a dump; without an answer ask() says it */
static void take_trouble(struct jit_process *m, struct bytes *b)
{
	char *text = parse_take_text(b, PARSE_NAME);

	if (*text)
		err_set(&m->trouble, ERR_INPUT, "%s", text);
	mem_free(text);
}

void jit_process_settle(struct jit_process *m, struct parser *p,
			void (*fn)(void *arg, const struct made_hit *x,
				   bool placed, uint64_t offset),
			void *arg)
{
	buffer question = {0}, answer = {0};
	bool asked = false;
	struct bytes b;

	if (m->dump.fd >= 0 && (m->hit.n || m->nameless.n || !m->looked)) {
		m->looked = true;
		put_question(m, &question);
		asked = ask(m, p, m->dump.fd, &question, &answer);
	}
	b = bytes_window(answer.at, asked ? answer.n : 0, 0);
	if (asked) {
		take_trouble(m, &b);
		take_nameless(m, &b);
	}
	for (size_t i = 0; i < m->hit.n; i++) {
		const struct made_hit *x = &m->hit.at[i];
		uint8_t how = asked ? bytes_u8(&b) : 2;
		uint64_t offset = asked ? bytes_uint(&b, 8) : x->address;
		bool good = asked && !b.bad && offset <= INT64_MAX;

		fn(arg, x, good && how == 1, good ? offset : x->address);
		if (!good || how == 2)
			remember(m, x->address);
	}
	if (asked)
		take_names(m, &b);
	else if (m->trouble.code)
		jitdump_close(&m->dump);
	m->hit.n = 0;
	vec_free(&question);
	vec_free(&answer);
}

void jit_process_forget_names(struct jit_process *m)
{
	vec_free(&m->name);
	arena_free(&m->text);
	m->text_size = 0;
}

void jit_process_free(struct jit_process *m)
{
	jitdump_close(&m->dump);
	jit_process_map(m, -1);
	vec_free(&m->hit);
	vec_free(&m->nameless);
	jit_process_forget_names(m);
	mem_free(m);
}
