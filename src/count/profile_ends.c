/*
 * profile_ends: where threads ended, as processes said it in a live profile,
 * becomes what that means for each image (ends.h). What cannot be understood
 * makes the profile say so.
 */
#include "count/ends.h"
#include "count/profile_int.h"

static void add(struct profile *p, uint32_t process, uint32_t image,
		const struct ends *x)
{
	for (size_t i = 0; i < x->endings.v.n; i++) {
		struct profile_end e = {process, image, x->endings.v.at[i]};

		vec_push(&p->end, e);
	}
	for (size_t i = 0; i < x->correction.n; i++) {
		struct profile_correction c = {
			process, image, x->correction.at[i].counter,
			x->correction.at[i].add,
		};

		vec_push(&p->correction, c);
	}
	if (x->lost)
		p->header.trouble |= TROUBLE_LOST;
}

/* all that was said of one image */
static void understand_image(struct profile *p, uint32_t image)
{
	const struct profile_image *m = &p->image.at[image];
	struct ends_reader *r = NULL;
	struct err e;

	for (size_t i = 0; !m->missing && i < p->said.n; i++) {
		const struct profile_said *s = &p->said.at[i];
		struct ends x;

		if (memcmp(s->end.id, m->id, PROFILE_ID))
			continue;
		if (profile_unpack(p, image, &e) || m->missing)
			break;
		if (!r)
			r = ends_open(&m->map, m->file, &e);
		if (!r) {
			p->header.trouble |= TROUBLE_LOST;
			return;
		}
		ends_read(r, &s->end, &x);
		add(p, s->process, image, &x);
		ends_free(&x);
	}
	if (r)
		ends_close(r);
}

void profile_understand(struct profile *p)
{
	for (uint32_t i = 0; p->said.n && i < p->image.n; i++)
		understand_image(p, i);
}
