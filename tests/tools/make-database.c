/*
 * make-database DIRECTORY: adds to a database, or makes it, what the input
 * says, a word and its values on each line:
 *
 *	epoch START END COMMAND		all that follows is of it
 *	event NAME PERIOD LOST		and of that,
 *	build HEX			the build-id of images to come
 *	image KIND PATH			and of that
 *	apart NAME			and, beside that, of these processes
 *	together			no longer
 *	procedure START END NAME	of that image, as its program told
 *	hit OFFSET COUNT
 *	process PID NAME COUNT
 *	condense FINE DAILY NOW		store_condense()
 *
 * The numbers of a database are thus known to who asks about it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static struct store s;
static int64_t epoch, event, image;
static char apart[256], build[2 * STORE_BUILD_ID + 1];
static struct err e;

static void need(bool right)
{
	if (right)
		return;
	fprintf(stderr, "make-database: %s\n", e.text);
	exit(1);
}

static void put_hit(uint64_t offset, uint64_t count)
{
	struct hit h = {offset, count};
	run r = {0};

	vec_push(&r, h);
	need(!store_samples(&s, epoch, image, event, &r, &e));
	need(!*apart || !store_apart(&s, epoch, apart, image, event, &r, &e));
	vec_free(&r);
}

static void put_image(int kind, const char *path)
{
	struct stored_image x = {.kind = (enum image_kind)kind, .path = path};

	for (const char *p = build; sscanf(p, "%2hhx",
					   &x.build_id[x.build_id_len]) == 1;
	     p += 2)
		x.build_id_len++;
	image = store_image(&s, &x, &e);
	need(image >= 0);
}

static void condense(const char *line)
{
	struct store_rule r = {0};
	uint64_t now;
	int64_t n;

	sscanf(line, "condense %" SCNu64 " %" SCNu64 " %" SCNu64, &r.fine,
	       &r.daily, &now);
	need(!store_commit(&s, &e));
	n = store_condense(&s, &r, now, &e);
	need(n >= 0 && !store_begin(&s, &e));
	printf("%" PRId64 "\n", n);
}

static void put_line(const char *line)
{
	uint64_t a, b;
	unsigned n;
	char name[256];

	if (sscanf(line, "epoch %" SCNu64 " %" SCNu64 " %255s", &a, &b,
		   name) == 3) {
		struct stored_epoch x = {a, b, "test", name};

		epoch = store_epoch(&s, &x, &e);
		need(epoch >= 0);
	} else if (sscanf(line, "event %255s %" SCNu64 " %" SCNu64, name, &a,
			  &b) == 3) {
		struct stored_event x = {name, a, b};

		event = store_event(&s, epoch, &x, &e);
		need(event >= 0);
	} else if (sscanf(line, "build %64s", build) == 1) {
		;
	} else if (sscanf(line, "image %u %255[^\n]", &n, name) == 2) {
		put_image((int)n, name);
	} else if (sscanf(line, "procedure %" SCNi64 " %" SCNi64 " %255[^\n]",
			  &a, &b, name) == 3) {
		struct stored_procedure x = {a, b, name};

		need(!store_procedure(&s, image, &x, &e));
	} else if (sscanf(line, "hit %" SCNi64 " %" SCNu64, &a, &b) == 2) {
		put_hit(a, b);
	} else if (sscanf(line, "process %u %255s %" SCNu64, &n, name,
			  &a) == 3) {
		struct stored_process x = {n, name, a};

		need(!store_process(&s, epoch, event, &x, &e));
	} else if (!strncmp(line, "condense ", 9)) {
		condense(line);
	} else if (!strncmp(line, "together", 8)) {
		*apart = '\0';
	} else {
		sscanf(line, "apart %255s", apart);
	}
}

int main(int argc, char **argv)
{
	char line[512];

	if (argc != 2)
		return 2;
	need(!store_create(&s, argv[1], &e) && !store_begin(&s, &e));
	while (fgets(line, sizeof line, stdin))
		put_line(line);
	need(!store_commit(&s, &e));
	store_close(&s);
	return 0;
}
