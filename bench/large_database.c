/*
 * large_database DIRECTORY: a database of a year or so: 400 epochs, 690 images
 * in each (1,500 in all), 276,000 runs of samples, 500 MB, thousands of
 * processes. Samples of an image fall on some of its places, the same ones again
 * and again. What is in it is always the same. For bench/databases.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "splitmix.h"
#include "store/store.h"

enum { EPOCHS = 400, IMAGES = 690, ALL_IMAGES = 1500, FEW_PLACES = 350, MANY_PLACES = 6000,
       PROCESSES = 2000, DAY = 86400 };

static struct err e;

static int64_t need(int64_t result)
{
	if (result >= 0)
		return result;
	fprintf(stderr, "large_database: %s\n", e.text);
	exit(1);
}

static void put_run(struct store *s, int64_t epoch, int64_t event,
		    uint64_t number, uint64_t *seed)
{
	char path[64];
	struct stored_image m = {.path = path, .build_id_len = 20};
	uint64_t places = number % 30 ? FEW_PLACES : MANY_PLACES;
	uint64_t offset = 0, own = number; /* the image's own dice */
	run r = {0};

	snprintf(path, sizeof path, "/usr/lib/large/image-%u.so",
		 (unsigned)number);
	memcpy(m.build_id, &number, sizeof number);
	for (uint64_t i = 0; i < 3 * places; i++) {
		struct hit h = {offset += 4 + 4 * (splitmix(&own) % 40),
				1 + splitmix(seed) % 90 * (i % 7 == 0)};

		if (splitmix(seed) % 3 == 0)
			vec_push(&r, h);
	}
	need(store_samples(s, epoch, need(store_image(s, &m, &e)), event, &r,
			   &e));
	vec_free(&r);
}

static void put_epoch(struct store *s, uint64_t number, uint64_t *seed)
{
	struct stored_epoch x = {number * DAY, (number + 1) * DAY, "daemon",
				 ""};
	struct stored_event cycles = {"cycles", 60000, 0};
	int64_t epoch, event;

	need(store_begin(s, &e));
	epoch = need(store_epoch(s, &x, &e));
	event = need(store_event(s, epoch, &cycles, &e));
	for (uint64_t i = 0; i < IMAGES; i++)
		put_run(s, epoch, event, (i + number * 2) % ALL_IMAGES, seed);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		char name[16];
		struct stored_process p = {i * 7 + 1, name, 1 + i % 9};

		snprintf(name, sizeof name, "worker-%u", i % 50);
		need(store_process(s, epoch, event, &p, &e));
	}
	need(store_commit(s, &e));
}

int main(int argc, char **argv)
{
	uint64_t seed = 5;
	struct store s;

	if (argc != 2)
		return 2;
	need(store_create(&s, argv[1], &e));
	for (uint64_t i = 0; i < EPOCHS; i++)
		put_epoch(&s, i + 1, &seed);
	store_close(&s);
	return 0;
}
