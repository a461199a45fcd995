/* err: see err.h. */
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	return -1;
}

int err_at(struct err *e, const char *file, uint64_t offset, const char *fmt,
	   ...)
{
	va_list ap;
	int n;

	e->code = ERR_INPUT;
	n = snprintf(e->text, sizeof e->text, "%s: at offset 0x%" PRIx64 ": ",
		     file, offset);
	if (n < 0 || (size_t)n >= sizeof e->text)
		return -1;
	va_start(ap, fmt);
	vsnprintf(e->text + n, sizeof e->text - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}
