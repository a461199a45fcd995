/* image_events: see image_events.h. */
#include "events/image_events.h"

#include "events/client_code.h"

void image_events_begin(struct image_events *x, const struct image *im,
			const struct event_list *list)
{
	*x = (struct image_events){
		.list = list,
		.image = im,
		.isa = isa_for_elf(im->machine),
		.silent = client_code_find(im).code,
	};
	for (unsigned i = 0; i < list->n; i++)
		if (list->at[i].kind == EVENT_AT)
			event_addresses_find(&x->at[i], &list->at[i], im);
}

void image_events_free(struct image_events *x)
{
	for (unsigned i = 0; i < x->list->n; i++)
		vec_free(&x->at[i].v);
}

static bool is_silent(const struct image_events *x, uint64_t address)
{
	return address >= x->silent.start && address < x->silent.end;
}

static unsigned decode(const struct image_events *x, uint64_t address,
		       struct insn *in)
{
	size_t avail;
	const uint8_t *code = image_at(x->image, address, &avail);

	*in = (struct insn){0};
	if (code)
		x->isa->decode(code, avail, address, in);
	return in->len;
}

unsigned image_events_insn(const struct image_events *x, uint64_t address,
			   uint32_t n[EVENTS_MAX])
{
	struct insn in;

	if (!decode(x, address, &in))
		return 0;
	for (unsigned i = 0; i < x->list->n; i++) {
		enum event_kind k = x->list->at[i].kind;

		n[i] = k == EVENT_AT ?
			       event_addresses_have(&x->at[i], address) :
		       is_silent(x, address) ? 0 : event_of_insn(k, &in);
	}
	return in.len;
}

void image_events_add(const struct image_events *x, struct range code,
		      int64_t add[EVENTS_MAX], event_varyings *varying)
{
	uint32_t n[EVENTS_MAX];
	unsigned len;

	for (uint64_t a = code.start; a < code.end; a += len) {
		len = image_events_insn(x, a, n);
		if (!len)
			return;
		for (unsigned i = 0; i < x->list->n; i++) {
			struct event_varying v = {a, i};

			if (n[i] != EVENT_VARIES)
				add[i] += n[i];
			else if (varying)
				vec_push(varying, v);
		}
	}
}

bool image_events_branches(const struct image_events *x, uint64_t address)
{
	struct insn in;

	return !is_silent(x, address) && decode(x, address, &in) &&
	       in.kind == INSN_COND;
}

uint32_t image_events_taken(const struct map_proc *p,
			    const struct map_edge *edge, uint32_t v)
{
	uint32_t taken = MAP_NONE, n = 0;

	/* the way on comes last (cfg/graph/block.c) */
	for (uint32_t i = 0; i < p->nedge; i++)
		if (edge[i].from == v && !n++)
			taken = p->edge + i;
	return n == 2 ? taken : MAP_NONE;
}
