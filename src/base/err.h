/*
 * err: an error as a value. A function that can fail returns 0 or -1 and, on
 * -1, has filled the struct err it was given: what is wrong, in which file
 * and where. Only cmd/ prints it and turns the code into an exit status.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdint.h>

enum err_code {
	ERR_NONE = 0,
	ERR_USAGE,   /* the command was called wrongly */
	ERR_INPUT,   /* a file is broken, foreign or missing */
	ERR_MACHINE, /* this machine does not allow it */
};

struct err {
	enum err_code code;
	char text[512]; /* one line, no newline */
};

/* fills e; returns -1 so that callers can `return err_set(...)` */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "FILE: at offset 0xOFFSET: ..." with ERR_INPUT; returns -1 */
int err_at(struct err *e, const char *file, uint64_t offset, const char *fmt,
	   ...) __attribute__((format(printf, 4, 5)));

#endif
