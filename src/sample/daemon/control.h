/*
 * control: the one daemon of a file, and words to it.
 *
 * Beside the file are FILE.lock, which the daemon holds locked as long as it
 * lives, however it ends, and FILE.socket, over which its owner tells it what
 * to do: a word there, a text back.
 */
#ifndef SAMPLE_DAEMON_CONTROL_H
#define SAMPLE_DAEMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CONTROL_WORD = 64,
	CONTROL_ANSWER = 1024,
	CONTROL_CLIENTS = 16, /* that have not said a word yet */
};

struct control_client {
	int fd;
	uint64_t since; /* milliseconds */
};

struct control {
	int lock, socket;
	int attention; /* can be read when a client is to be served */
	char *path;    /* of the socket */
	struct control_client client[CONTROL_CLIENTS]; /* the oldest first */
	size_t clients;
};

#define CONTROL_NONE {.lock = -1, .socket = -1, .attention = -1}

/* -1 and *e: another daemon has the file (*e has its pid), or worse */
int control_open(struct control *c, const char *file, struct err *e);
/* whether the lock file was removed: its folder is taken for removed, too */
bool control_is_gone(const struct control *c);
/* of one that is none, too */
void control_close(struct control *c);
/*
 * Answers all clients that have said a word. One that has not is not waited
 * for: it may say it later, for a while, or until too many others are there.
 */
void control_serve(struct control *c,
		   void (*fn)(void *arg, const char *word, char *answer,
			      size_t room),
		   void *arg);

/* is there a daemon of that file that would hear us? */
bool control_is_there(const char *file);
/*
 * Asks the daemon of a file; -1 and *e: there is none, it is not ours, or does
 * not answer in time.
 */
int control_ask(const char *file, const char *word,
		char answer[CONTROL_ANSWER], struct err *e);
/* waits until the file has no daemon */
void control_wait(const char *file);

#endif
