/*
 * client_code: the client library (client/tally.h) in an image, as its note
 * says.
 */
#ifndef EVENTS_CLIENT_CODE_H
#define EVENTS_CLIENT_CODE_H

#include "elf/image.h"

struct client_code {
	uint64_t client;   /* address of its struct client; 0: there is none */
	struct range code; /* of its functions, which have no events */
};

struct client_code client_code_find(const struct image *im);

#endif
