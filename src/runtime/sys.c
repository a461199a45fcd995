/* sys: see sys.h. */
#include "runtime/sys.h"

/*
 * The compiler may call these whatever we write. The empty statements keep it
 * from finding out that their loops are what they are.
 */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	while (n--) {
		*t++ = *f++;
		__asm__ volatile("" : "+r"(t));
	}
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;

	while (n--) {
		*t++ = (char)c;
		__asm__ volatile("" : "+r"(t));
	}
	return to;
}

long sys_read_file(const char *path, void *to, size_t max)
{
	long fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)path,
			    SYS_O_CLOEXEC, 0, 0);
	long n;

	if (fd < 0)
		return fd;
	n = arch_call(SYS_READ, fd, (long)to, (long)max, 0, 0);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return n;
}

_Bool sys_file_id(const char *path, struct file_id *id)
{
	struct kernel_stat st;

	if (arch_call(SYS_NEWFSTATAT, SYS_AT_FDCWD, (long)path, (long)&st, 0,
		      0) < 0 || (st.st_mode & 0170000) != 0100000)
		return 0;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	id->size = (uint64_t)st.st_size;
	id->mtime = st.st_mtime_s * 1000000000u + st.st_mtime_ns;
	id->ctime = st.st_ctime_s * 1000000000u + st.st_ctime_ns;
	return 1;
}

enum {
	READ_WRITE = 3,
	MAP_THERE = 0x10, /* MAP_FIXED */
	MAP_PRIVATE_ANONYMOUS = 0x22,
	MAP_NO_MEMORY = 0x4000,	    /* MAP_NORESERVE */
	MAP_IF_FREE = 0x100000, /* MAP_FIXED_NOREPLACE */
};

void *sys_map(size_t n)
{
	enum { ERRORS = 4096 };
	long at = arch_call6(SYS_MMAP, 0, (long)n, READ_WRITE,
			     MAP_PRIVATE_ANONYMOUS, -1, 0);

	return at < 0 && at > -ERRORS ? NULL : (void *)at;
}

void sys_unmap(const void *p, size_t n)
{
	arch_call(SYS_MUNMAP, (long)p, (long)n, 0, 0, 0);
}

_Bool sys_map_over(const void *at, size_t n)
{
	return arch_call6(SYS_MMAP, (long)at, (long)n, READ_WRITE,
			  MAP_PRIVATE_ANONYMOUS | MAP_THERE, -1, 0) ==
	       (long)at;
}

_Bool sys_reserve(const void *at, size_t n)
{
	enum { ERRORS = 4096 };
	long got = arch_call6(SYS_MMAP, (long)at, (long)n, 0,
			      MAP_PRIVATE_ANONYMOUS | MAP_NO_MEMORY |
				      MAP_IF_FREE, -1, 0);

	if (got == (long)at)
		return 1;
	/* old kernels, and emulators, take another place */
	if (got >= 0 || got <= -ERRORS)
		sys_unmap((void *)got, n);
	return 0;
}

_Bool sys_move(const void *from, size_t n, const void *to)
{
	enum { MAY_MOVE_FIXED = 3 };

	return arch_call(SYS_MREMAP, (long)from, (long)n, (long)n,
			 MAY_MOVE_FIXED, (long)to) == (long)to;
}

/*
 * The kernel looks at a set of signals before it complains about what to do
 * with it (EINVAL); an address that is not there is EFAULT.
 */
_Bool sys_readable(const void *p)
{
	return arch_call(SYS_RT_SIGPROCMASK, -1, (long)p, 0, 8, 0) !=
	       -SYS_EFAULT;
}

size_t str_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

_Bool str_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const char *str_after(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return NULL;
	return s;
}

void str_number(char *to, long n)
{
	long rest = n < 0 ? -n : n;
	unsigned len = n < 0;

	do
		len++;
	while (rest /= 10);
	to[len] = 0;
	for (rest = n < 0 ? -n : n; len > (n < 0); rest /= 10)
		to[--len] = (char)('0' + rest % 10);
	if (n < 0)
		to[0] = '-';
}

const char *str_base(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

void text_add_n(struct text *t, const char *s, size_t n)
{
	if (n >= t->max - t->n) {
		t->full = 1;
		return;
	}
	for (size_t i = 0; i < n; i++)
		t->at[t->n++] = s[i];
	t->at[t->n] = 0;
}

void text_add(struct text *t, const char *s)
{
	text_add_n(t, s, str_len(s));
}

/* words of struct clone_args */
enum {
	ARGS_FLAGS = 0,
	ARGS_STACK = 5,
	ARGS_TLS = 7,
};

_Bool clone_read(const struct arch_hook *g, _Bool trust, struct clone_call *x)
{
	const uint64_t *args = (const uint64_t *)g->arg[0];
	uintptr_t tls;

	if (arch_clone(g, &x->flags, &tls)) {
		x->tls = tls;
		x->stack = g->nr == SYS_CLONE && g->arg[1];
		return 1;
	}
	if (g->nr != SYS_CLONE3 ||
	    (!trust && (!sys_readable(args) || !sys_readable(args + ARGS_TLS))))
		return 0;
	x->flags = args[ARGS_FLAGS];
	x->tls = args[ARGS_TLS];
	x->stack = args[ARGS_STACK];
	return 1;
}
