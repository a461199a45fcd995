/*
 * trace: prints backtraces that can be compared between two builds of one
 * program: addresses relative to the object, which the test turns into names.
 */
#ifndef TRACE_H
#define TRACE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_seek {
	uintptr_t addr, base;
	const char *name;
	int executable;
};

static int trace_object(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct trace_seek *s = (struct trace_seek *)arg;

	(void)size;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    s->addr - o->dlpi_addr - p->p_vaddr < p->p_memsz) {
			s->base = o->dlpi_addr;
			s->name = o->dlpi_name;
			s->executable = !!(p->p_flags & PF_X);
			return 1;
		}
	}
	return 0;
}

/* prints the stack, innermost first, up to main */
static __attribute__((noinline, unused)) void trace_print(const char *what)
{
	void *pc[64];
	int n = backtrace(pc, 64);

	printf("%s:\n", what);
	for (int i = 0; i < n; i++) {
		struct trace_seek s = {(uintptr_t)pc[i], 0, "", 0};

		if (!dl_iterate_phdr(trace_object, &s)) {
			printf("  nowhere\n");
			continue;
		}
		/* a return address may be behind its function's end */
		printf("  at %s+%#lx%s\n",
		       *s.name ? strrchr(s.name, '/') ?
				 strrchr(s.name, '/') + 1 : s.name : "main",
		       (unsigned long)(s.addr - s.base - 1),
		       s.executable ? "" : " not executable");
	}
	fflush(stdout);
}

#endif
