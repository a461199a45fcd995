/* parser: see parser.h. */
#include "sample/processes/parser.h"

#include <unistd.h>

#include "base/debug.h"
#include "sample/processes/parse.h"

enum {
	MEMORY = 192 << 20, /* bytes that a question may take */
	CPU = 20,	    /* seconds of all questions of a process */
	PATIENCE = 1000,    /* milliseconds for one, at least */
	QUESTION = 64 << 20, ANSWER = 64 << 20, /* bytes, at most */
};

/* the process: question, answer, until its parent is gone */
static void work(void *arg, int fd)
{
	buffer question = {0}, answer = {0};
	int file;

	(void)arg;
	while (sandbox_receive(fd, &question, QUESTION, &file, 0)) {
		answer.n = 0;
		parse_answer(file, bytes_window(question.at, question.n, 0),
			     &answer);
		close(file);
		if (!sandbox_send(fd, &answer, -1, 0))
			break;
	}
}

static bool begin(struct parser *p)
{
	static const struct sandbox_limits limits = {
		.memory = MEMORY, .cpu = CPU, .uid = SANDBOX_NOBODY,
		.gid = SANDBOX_NOBODY,
	};
	struct err e;

	if (p->begun)
		return true;
	p->begun = !sandbox_start(&p->box, &limits, work, NULL, -1, &e);
	if (p->begun)
		debug(DEBUG_SAMPLE, "process %ld reads files of others",
		      (long)p->box.pid);
	else
		debug(DEBUG_SAMPLE, "no process to read files of others: %s",
		      e.text);
	return p->begun;
}

static void give_up(struct parser *p)
{
	if (p->begun)
		sandbox_end(&p->box);
	p->begun = false;
}

void parser_turn(struct parser *p, uint64_t milliseconds)
{
	p->until = sandbox_clock() + milliseconds;
	p->patience = milliseconds / 3;
}

enum parser_answer parser_ask(struct parser *p, int fd, const buffer *question,
			      buffer *answer)
{
	uint64_t patience = p->patience > PATIENCE ? p->patience : PATIENCE;
	uint64_t now = sandbox_clock(), deadline = now + patience, worked;
	bool late;

	if (p->until && now >= p->until)
		return PARSER_NO_TIME;
	if (p->until && p->until < deadline)
		deadline = p->until;
	if (!begin(p))
		return PARSER_FAILED;
	worked = sandbox_worked(&p->box);
	if (sandbox_send(p->box.fd, question, fd, deadline) &&
	    sandbox_receive(p->box.fd, answer, ANSWER, NULL, deadline))
		return PARSER_ANSWERED;
	late = sandbox_clock() >= deadline &&
	       sandbox_worked(&p->box) - worked < patience / 2;
	debug(DEBUG_SAMPLE, "process %ld gave no answer%s", (long)p->box.pid,
	      late ? " in time" : "");
	give_up(p);
	return late ? PARSER_NO_TIME : PARSER_FAILED;
}

void parser_end(struct parser *p)
{
	give_up(p);
	p->until = p->patience = 0;
}
