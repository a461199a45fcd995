/* rewriter: see rewriter.h. */
#include "cmd/rewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/needs.h"

const char *recipe_name(const struct recipe *r)
{
	return r->trap_unexpected ? "none+trap" : "none";
}

bool recipe_parse(struct recipe *r, const char *name)
{
	*r = (struct recipe){.trap_unexpected = !strcmp(name, "none+trap")};
	return !strcmp(name, recipe_name(r));
}

/* all bytes of `from` into `to`; 0 or errno */
static int copy_bytes(int from, int to)
{
	ssize_t n;

	do
		n = sendfile(to, from, NULL, 1 << 30);
	while (n > 0);
	return n < 0 ? errno : 0;
}

/* NEEDSWORK: a copy, until the rewriter is there to be called here */
static int rewrite_copy(void *ctx, const char *in, const char *out,
			struct err *e)
{
	int from = open(in, O_RDONLY | O_CLOEXEC), to, why;

	(void)ctx;
	if (from < 0)
		return err_set(e, ERR_MACHINE, "%s: %s", in, strerror(errno));
	to = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	why = to < 0 ? errno : copy_bytes(from, to);
	close(from);
	if (to >= 0 && close(to) && !why)
		why = errno;
	return why ? err_set(e, ERR_MACHINE, "%s: %s", out, strerror(why)) : 0;
}

/* tally's version and build: another build may rewrite otherwise */
static const char *version(void)
{
	static char text[160];
	struct needs n;
	struct err e;
	int at = snprintf(text, sizeof text, "%s", TALLY_VERSION);

	if (needs_read(&n, "/proc/self/exe", &e))
		return text;
	for (unsigned i = 0; i < n.build_id_len; i++)
		at += sprintf(text + at, "%02x", n.build_id[i]);
	needs_free(&n);
	return text;
}

struct rewriter rewriter_of(const struct recipe *r)
{
	return (struct rewriter){
		.ctx = (void *)r,
		.rewrite = rewrite_copy,
		.options = recipe_name(r),
		.version = version(),
	};
}
