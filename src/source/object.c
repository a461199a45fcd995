/* object: see object.h. */
#include "source/object.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool is_the_same(Dwfl_Module *m, const struct object_id *id)
{
	const unsigned char *bits;
	GElf_Addr at;
	int n;

	if (!id->build_id_len)
		return true;
	n = dwfl_module_build_id(m, &bits, &at);
	return n == (int)id->build_id_len &&
	       !memcmp(bits, id->build_id, id->build_id_len);
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
	if (!is_the_same(o->module, id))
		return err_set(e, ERR_INPUT, "%s: this is another build than "
			       "the one that was measured", id->path);
	return 0;
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
