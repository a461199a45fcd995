/* sampled: see sampled.h. */
#include "source/sampled.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/image_key.h"

/* numbers of a file's events in ours: all hosts' are added up by name */
struct reading {
	struct sampled *s;
	VEC(int64_t) id;
	VEC(uint32_t) ours;
	const char *path;
};

static int event_number(const struct reading *r, int64_t id)
{
	for (size_t i = 0; i < r->id.n; i++)
		if (r->id.at[i] == id)
			return (int)r->ours.at[i];
	return -1;
}

static int read_event(void *arg, int64_t epoch, int64_t id,
		      const struct stored_event *x, struct err *e)
{
	struct reading *r = arg;
	struct sampled *s = r->s;
	uint32_t i;

	(void)epoch;
	for (i = 0; i < s->event.n; i++)
		if (!strcmp(s->event.at[i].name, x->name))
			break;
	if (i == s->event.n) {
		struct sampled_event new = {
			.name = intern_string(&s->text, x->name)};

		if (i == SAMPLED_EVENTS)
			return err_set(e, ERR_INPUT, "%s: more than %d "
				       "events", r->path, SAMPLED_EVENTS);
		vec_push(&s->event, new);
	}
	s->event.at[i].lost += x->lost;
	s->event.at[i].period = x->period;
	vec_push(&r->id, id);
	vec_push(&r->ours, i);
	return 0;
}

static struct sampled_image *image_of(struct sampled *s,
				      const struct stored_image *is)
{
	struct sampled_image new = {.is = *is};
	const char *base = strrchr(is->path, '/');
	char key[IMAGE_KEY];
	uint32_t number;

	image_key(is, key);
	number = intern(&s->key, key);
	if (number == s->image.n) {
		new.is.path = intern_string(&s->text, is->path);
		new.name = base ? intern_string(&s->text, base + 1) :
				  new.is.path;
		vec_push(&s->image, new);
	}
	return &s->image.at[number];
}

static int read_run(void *arg, const struct stored_row *row, struct err *e)
{
	struct reading *r = arg;
	int event = event_number(r, row->event);
	struct sampled_image *m;
	uint64_t n;

	if (event < 0)
		return err_set(e, ERR_INPUT, "%s: samples of event %" PRId64
			       ", which is not there", r->path, row->event);
	m = image_of(r->s, &row->of);
	n = run_total(&row->samples);
	vec_append(&m->samples[event], &row->samples);
	m->total[event] += n;
	r->s->event.at[event].samples += n;
	return 0;
}

static int read_process(void *arg, int64_t epoch, int64_t id,
			const struct stored_process *x, struct err *e)
{
	struct reading *r = arg;
	struct sampled *s = r->s;
	int event = event_number(r, id);
	char key[PATH_MAX];
	uint32_t number;

	(void)e;
	if (event < 0)
		return 0;
	snprintf(key, sizeof key, "%s:%" PRId64 ":%" PRIu32 ":%s", r->path,
		 epoch, x->pid, x->name);
	number = intern(&s->process_key, key);
	if (number == s->process.n) {
		struct sampled_process new = {
			.pid = x->pid,
			.name = intern_string(&s->text, x->name)};

		vec_push(&s->process, new);
	}
	s->process.at[number].samples[event] += x->samples;
	return 0;
}

static int read_file(struct sampled *s, const char *path, struct err *e)
{
	struct reading r = {.s = s, .path = path};
	struct store store;
	int result;

	if (store_open(&store, path, e))
		return -1;
	result = store_each_event(&store, read_event, &r, e) ||
		 store_each_run(&store, read_run, &r, e) ||
		 store_each_process(&store, read_process, &r, e);
	store_close(&store);
	vec_free(&r.id);
	vec_free(&r.ours);
	return result ? -1 : 0;
}

static int read_directory(struct sampled *s, const char *path, struct err *e)
{
	char **file;
	int n = store_files(&file, path, e), result = 0;

	if (n < 0)
		return -1;
	if (!n)
		result = err_set(e, ERR_INPUT, "%s: no database of samples is "
				 "in this directory", path);
	for (int i = 0; i < n; i++) {
		if (!result)
			result = read_file(s, file[i], e);
		mem_free(file[i]);
	}
	mem_free(file);
	return result;
}

int sampled_open(struct sampled *s, const char *const *path, size_t n,
		 struct err *e)
{
	*s = (struct sampled){0};
	for (size_t i = 0; i < n; i++)
		if (read_directory(s, path[i], e)) {
			sampled_close(s);
			return -1;
		}
	for (size_t i = 0; i < s->image.n; i++)
		for (size_t v = 0; v < s->event.n; v++)
			run_settle(&s->image.at[i].samples[v]);
	return 0;
}

void sampled_close(struct sampled *s)
{
	for (size_t i = 0; i < s->image.n; i++) {
		for (size_t v = 0; v < s->event.n; v++)
			vec_free(&s->image.at[i].samples[v]);
		sampled_code_free(s->image.at[i].code);
	}
	vec_free(&s->image);
	vec_free(&s->event);
	vec_free(&s->process);
	intern_free(&s->text);
	intern_free(&s->key);
	intern_free(&s->process_key);
}
