/* jumps: a clock that goes back an hour whenever somebody looks at it. */
#include <time.h>

time_t time(time_t *to)
{
	static time_t now = 1000000000;

	now -= 3600;
	if (to)
		*to = now;
	return now;
}
