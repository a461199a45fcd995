/*
 * json: a streaming writer. Commas, indentation and quoting are its business;
 * callers only open, fill and close:
 *
 *	json_object(&j, NULL);            {
 *	json_string(&j, "file", "a.out");   "file": "a.out",
 *	json_array(&j, "blocks");           "blocks": [
 *	json_end(&j);                       ]
 *	json_end(&j);                     }
 *
 * `key` is NULL inside arrays and at the top. Bytes of strings that are not
 * valid UTF-8 are written as U+FFFD so that every reader accepts the output.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

struct json {
	FILE *to;
	bool lines; /* no line breaks within an object at the top */
	unsigned depth;
	bool filled[JSON_DEPTH]; /* something was written at this depth */
	char close[JSON_DEPTH];
};

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
/* closes the innermost object or array */
void json_end(struct json *j);
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
/* with as many digits as tell it from its neighbours */
void json_real(struct json *j, const char *key, double value);
/* what is not known */
void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool value);
/* "0x..." as a string: 64-bit addresses do not fit JSON's numbers */
void json_address(struct json *j, const char *key, uint64_t value);

#endif
