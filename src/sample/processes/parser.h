/*
 * parser: the process that reads files of other users for the daemon (parse.h),
 * in a sandbox, since whatever is in them must not be the daemon's end. It is
 * started when there is a question; one that it dies of, or that takes long,
 * has no answer, and the next one finds another process.
 *
 * The daemon waits for answers, and samples of all processes wait in the kernel
 * in the meantime. So all questions of a turn have a time, too: those that take
 * long should be asked last. On a busy machine that time may be over before the
 * process has had a processor: then it is not the file's fault.
 */
#ifndef SAMPLE_PROCESSES_PARSER_H
#define SAMPLE_PROCESSES_PARSER_H

#include "base/sandbox.h"

struct parser {
	struct sandbox box;
	bool begun;	/* box is one */
	uint64_t until; /* the turn's time, by sandbox_clock(); 0: no turn */
	uint64_t patience; /* milliseconds for one question of the turn */
};

enum parser_answer {
	PARSER_ANSWERED,
	PARSER_NO_TIME, /* it may be asked again, in another turn */
	PARSER_FAILED,	/* the file is to blame */
};

/* a turn begins: questions, for so many milliseconds in all */
void parser_turn(struct parser *p, uint64_t milliseconds);
/* the answer about a file, if there is one */
enum parser_answer parser_ask(struct parser *p, int fd, const buffer *question,
			      buffer *answer);
/* the process ends, until it is needed again */
void parser_end(struct parser *p);

#endif
