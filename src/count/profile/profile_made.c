/*
 * profile_made: a profile that is made of counts from elsewhere, instead of
 * read from its file. See profile.h.
 */
#include "count/profile/profile_int.h"

int profile_make_begin(struct profile *p, const char *path,
		       const struct profile_header *h, const char *options,
		       const char *command, struct err *e)
{
	*p = (struct profile){.header = *h, .finished = true};
	if (file_open(&p->file, path, e))
		return -1;
	p->header.magic = PROFILE_MAGIC;
	p->header.version = PROFILE_VERSION;
	p->header.form = PROFILE_FINISHED;
	p->options = arena_string(&p->arena, options, strlen(options));
	p->command = arena_string(&p->arena, command, strlen(command));
	return 0;
}

int profile_make_image(struct profile *p, const uint8_t *id, const char *path,
		       const void *map, size_t size, uint32_t ncounter,
		       uint32_t *image, struct err *e)
{
	uint8_t *copy;

	if (profile_image_of(p, id, ncounter, 0, image, e))
		return -1;
	p->image.at[*image].file = arena_string(&p->arena, path, strlen(path));
	copy = mem_alloc(size);
	memcpy(copy, map, size);
	map_count_edges(copy, size, ncounter);
	return profile_take_map(p, *image, copy, size, p->file.name, e);
}

void profile_make_process(struct profile *p, const struct profile_process *q)
{
	struct profile_process new = *q;

	new.name = arena_string(&p->arena, q->name, strlen(q->name));
	vec_push(&p->process, new);
}

void profile_make_piece(struct profile *p, uint32_t process, uint32_t image,
			uint64_t *value)
{
	struct profile_piece x = {.process = process, .image = image,
				  .value = value};

	vec_push(&p->value, value);
	vec_push(&p->piece, x);
}

void profile_make_left(struct profile *p, const struct profile_left *x)
{
	struct profile_left new = *x;

	new.path = arena_string(&p->arena, x->path, strlen(x->path));
	new.reason = arena_string(&p->arena, x->reason, strlen(x->reason));
	vec_push(&p->left, new);
}

int profile_make_end(struct profile *p, struct err *e)
{
	p->header.nprocess = p->process.n;
	if (profile_sort(p, e))
		return -1;
	profile_sort_pieces(p);
	profile_sort_left(p);
	return profile_unpack_all(p, e);
}
