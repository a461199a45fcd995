/* peek: memory of the process that this code is in, see counting.h. */
#include "runtime/counting.h"

_Bool peek(const struct counting *c, const void *at, void *to, size_t n)
{
	(void)c;
	for (size_t i = 0; i < n; i += 8)
		if (!sys_readable((const char *)at + i))
			return 0;
	__builtin_memcpy(to, at, n);
	return 1;
}
