/*
 * client: what the client library in a program (client/tally.h) and the code
 * that travels inside the program agree on. The library is compiled into
 * programs that outlive this tally, so that it is little: a note says where a
 * struct client is, into which the address of a table of functions is written.
 * What counters are and where they lie is the functions' business alone.
 */
#ifndef ABI_CLIENT_H
#define ABI_CLIENT_H

#include <stddef.h>
#include <stdint.h>

/* the note's name and type; another type is another form of what is here */
#define CLIENT_NOTE "tally-client"
enum { CLIENT_NOTE_TYPE = 1 };

/* its contents: distances from each word itself */
struct client_note {
	int32_t client;   /* to the struct client */
	int32_t code;     /* to the library's code, which has no events */
	int32_t code_end;
};

/* what the functions return: values of tally.h */
enum client_status {
	CLIENT_NOT_COUNTED = -1,
	CLIENT_NO_ROOM = -2,
	CLIENT_BAD_NAME = -3,
	CLIENT_NO_EVENT = -4,
	CLIENT_BUSY = -5,
};

/* functions, which get the table itself first; a later tally may have more */
struct client_calls {
	uint64_t ncall; /* functions that there are */
	int (*events)(struct client_calls *k);
	int (*event_name)(struct client_calls *k, int event, char *to,
			  size_t size);
	int (*event)(struct client_calls *k, const char *name);
	int (*read)(struct client_calls *k, uint64_t *counts, int n);
	int (*stop)(struct client_calls *k);
	int (*start)(struct client_calls *k);
	int (*phase)(struct client_calls *k, const char *name);
	int (*phase_return)(struct client_calls *k, int phase);
};

struct client {
	uint64_t ncall; /* functions that the library knows */
	struct client_calls *calls; /* NULL: nothing is counted */
};

#endif
