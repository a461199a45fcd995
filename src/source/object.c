/* object: see object.h. */
#include "source/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

enum { BUILD_TEXT = 72 };

static const char *build_text(const uint8_t *id, int n, char text[BUILD_TEXT])
{
	strcpy(text, "without a build-id");
	for (int i = 0; i < n && 2 * i + 2 < BUILD_TEXT; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	return text;
}

/* it has the build-id that it should have, if that is known */
static int check_build(Dwfl_Module *m, const struct object_id *id,
		       struct err *e)
{
	const unsigned char *bits = NULL;
	char there[BUILD_TEXT], wanted[BUILD_TEXT];
	GElf_Addr at;
	int n;

	if (!id->build_id_len)
		return 0;
	n = dwfl_module_build_id(m, &bits, &at);
	if (n == (int)id->build_id_len && !memcmp(bits, id->build_id, n))
		return 0;
	return err_set(e, ERR_INPUT, "%s: it is another build now, %s, than "
		       "was measured, %s", id->path,
		       build_text(bits, n, there),
		       build_text(id->build_id, (int)id->build_id_len,
				  wanted));
}

/* takes over the descriptor */
static int report(struct object *o, const struct object_id *id, int fd,
		  struct err *e)
{
	o->dwfl = dwfl_begin(&callbacks);
	/* at address 0: what it says of addresses is what the file says */
	o->module = o->dwfl ? dwfl_report_elf(o->dwfl, id->path, id->path, fd,
					      0, true) : NULL;
	if (!o->module) {
		err_set(e, ERR_INPUT, "%s: %s", id->path, dwfl_errmsg(-1));
		close(fd);
		return -1;
	}
	dwfl_report_end(o->dwfl, NULL, NULL);
	return check_build(o->module, id, e);
}

int object_open(struct object *o, const struct object_id *id, struct err *e)
{
	int fd = open(id->path, O_RDONLY | O_CLOEXEC);

	*o = (struct object){0};
	if (fd < 0)
		return err_set(e, ERR_INPUT, "%s: %s", id->path,
			       strerror(errno));
	if (report(o, id, fd, e)) {
		object_close(o);
		return -1;
	}
	return 0;
}

void object_close(struct object *o)
{
	if (o->dwfl)
		dwfl_end(o->dwfl);
	*o = (struct object){0};
}
