/*
 * replay_text: blocks and instructions of a trace, a line each: the image's
 * file name, a tab, the address in the original; as text, or as JSON.
 */
#include "cmd/render/replay_show.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/name.h"

enum { HEX_DIGITS = 16 };

struct lines {
	struct replay_sink is;
	FILE *to;
	const struct walks *walks;
	char **name; /* of images, as they are printed, by number */
	bool json, insns, addresses;
};

/* --- what tells of no code */

static void put_border(FILE *to, const char *what,
		       const struct replay_border *b)
{
	if (!b->image)
		return;
	fprintf(to, "\t%s ", what);
	name_print(to, replay_image_name(b->image), "");
	fprintf(to, " 0x%" PRIx64, b->address);
}

void replay_show_note(FILE *to, const struct replay_event *x)
{
	switch (x->kind) {
	case REPLAY_THREAD:
		fprintf(to, "# process %" PRIu32 " thread %" PRIu32 "\n",
			x->thread->process, x->thread->thread);
		break;
	case REPLAY_SIGNAL:
		fprintf(to, "# signal %" PRIu32 "\n", x->step->number);
		break;
	case REPLAY_RESUME:
		fputs("# its handler has returned\n", to);
		break;
	case REPLAY_SYSCALL:
		fprintf(to, "# system call %" PRIu32 "\tCPU %" PRIu32
			    "\ttime %" PRIu64 "\n",
			x->step->number, x->step->cpu, x->step->time);
		break;
	case REPLAY_GAP:
		fprintf(to, "# gap: 0x%" PRIx64, x->step->address);
		put_border(to, "after", &x->before);
		put_border(to, "before", &x->after);
		putc('\n', to);
		break;
	case REPLAY_OPEN:
		fputs("# open: ", to);
		name_print(to, replay_image_name(x->step->image), "");
		fprintf(to, " 0x%" PRIx64 "\n",
			replay_address(x->step, x->step->first));
		break;
	case REPLAY_LOST:
	case REPLAY_END:
		fprintf(to, "# %s\n", x->step->why);
		break;
	}
}

static void border_json(struct json *j, const char *key,
			const struct replay_border *b)
{
	if (!b->image)
		return;
	json_object(j, key);
	json_string(j, "image", replay_image_name(b->image));
	json_address(j, "address", b->address);
	json_end(j);
}

static void note_json(struct json *j, const struct replay_event *x)
{
	static const char *const kinds[] = {
		[REPLAY_THREAD] = "thread", [REPLAY_GAP] = "gap",
		[REPLAY_SIGNAL] = "signal", [REPLAY_RESUME] = "resume",
		[REPLAY_SYSCALL] = "syscall", [REPLAY_LOST] = "lost",
		[REPLAY_OPEN] = "open", [REPLAY_END] = "end"};

	json_object(j, NULL);
	json_string(j, "kind", kinds[x->kind]);
	if (x->kind == REPLAY_THREAD) {
		json_number(j, "process", x->thread->process);
		json_number(j, "thread", x->thread->thread);
	} else if (x->kind == REPLAY_SIGNAL) {
		json_number(j, "signal", x->step->number);
	} else if (x->kind == REPLAY_SYSCALL) {
		json_number(j, "syscall", x->step->number);
		json_number(j, "cpu", x->step->cpu);
		json_number(j, "time", x->step->time);
	} else if (x->kind == REPLAY_GAP) {
		json_address(j, "address", x->step->address);
		border_json(j, "after", &x->before);
		border_json(j, "before", &x->after);
	} else if (x->kind == REPLAY_OPEN) {
		json_string(j, "image", replay_image_name(x->step->image));
		json_address(j, "address",
			     replay_address(x->step, x->step->first));
	} else if (x->kind != REPLAY_RESUME) {
		json_string(j, "why", x->step->why);
	}
	json_end(j);
}

/* --- code */

/* as fprintf() with %PRIx64, which is what takes longest */
static void put_hex(FILE *to, uint64_t n)
{
	char digits[HEX_DIGITS];
	unsigned i = HEX_DIGITS;

	do {
		digits[--i] = "0123456789abcdef"[n & 15];
		n >>= 4;
	} while (n);
	fwrite_unlocked(digits + i, 1, HEX_DIGITS - i, to);
}

static const char *name_of(struct lines *k, const struct walk_step *s)
{
	char **name = &k->name[s->image->number];

	if (!*name)
		*name = name_text(replay_image_name(s->image), "");
	return *name;
}

static void put_place(struct lines *k, const struct walk_step *s,
		      uint64_t address)
{
	fputs_unlocked(name_of(k, s), k->to);
	fputs_unlocked("\t0x", k->to);
	put_hex(k->to, address);
}

static void place_json(struct json *j, const struct replay_event *x,
		       uint64_t number, uint64_t address)
{
	json_object(j, NULL);
	json_number(j, "number", number);
	json_string(j, "image", replay_image_name(x->step->image));
	json_address(j, "address", address);
}

static void take_insns(struct lines *k, const struct replay_event *x)
{
	struct json j = {.to = k->to, .lines = true};
	uint64_t number = x->number;
	struct replay_insn i;

	replay_insns(&i, x);
	for (; replay_insn_next(&i); number++) {
		if (k->json) {
			place_json(&j, x, number, i.pc - x->step->base);
			json_number(&j, "size", i.size);
			json_end(&j);
		} else {
			put_place(k, x->step, i.pc - x->step->base);
			putc_unlocked('\n', k->to);
		}
	}
}

static void take_block(struct lines *k, const struct replay_event *x)
{
	struct json j = {.to = k->to, .lines = true};
	uint64_t at = replay_address(x->step, x->step->first);

	if (k->json) {
		place_json(&j, x, x->number, at);
		json_number(&j, "instructions", x->step->n);
		json_number(&j, "depth", x->step->depth);
		json_end(&j);
	} else {
		put_place(k, x->step, at);
		fprintf(k->to, "\t%" PRIu32 "\n", x->step->n);
	}
}

/* --- accesses */

static void access_json(struct lines *k, const struct replay_event *x,
			uint64_t number, uint64_t at, const char *kind,
			const struct replay_data *d)
{
	struct json j = {.to = k->to, .lines = true};

	place_json(&j, x, number, at);
	json_string(&j, "access", kind);
	if (d->known)
		json_address(&j, "data", d->address);
	else
		json_null(&j, "data");
	if (d->size == MEM_SIZE_UNKNOWN)
		json_null(&j, "size");
	else
		json_number(&j, "size", d->size);
	json_end(&j);
}

static void put_access(struct lines *k, const struct replay_event *x,
		       uint64_t number, uint64_t at, const char *kind,
		       const struct replay_data *d)
{
	if (k->json) {
		access_json(k, x, number, at, kind, d);
		return;
	}
	put_place(k, x->step, at);
	fprintf(k->to, "\t%s\t", kind);
	if (d->known)
		fprintf(k->to, "0x%" PRIx64, d->address);
	else
		putc_unlocked('?', k->to);
	if (d->size == MEM_SIZE_UNKNOWN)
		fputs("\t?\n", k->to);
	else
		fprintf(k->to, "\t%" PRIu32 "\n", d->size);
}

static void take_addresses(struct lines *k, const struct replay_event *x)
{
	struct replay_accesses a = {.x = x};
	uint32_t first = x->step->first, n = first;
	struct replay_insn i;
	struct replay_data d;

	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++)
		while (replay_data_next(&a, n, &d)) {
			uint64_t number = x->number + (n - first);
			uint64_t place = i.pc - x->step->base;

			if (d.kind != ACCESS_STORE)
				put_access(k, x, number, place, "r", &d);
			if (d.kind != ACCESS_LOAD)
				put_access(k, x, number, place, "w", &d);
		}
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct lines *k = (struct lines *)s;
	struct json j = {.to = k->to, .lines = true};

	if (x->kind == REPLAY_BLOCK && k->addresses)
		take_addresses(k, x);
	else if (x->kind == REPLAY_BLOCK && k->insns)
		take_insns(k, x);
	else if (x->kind == REPLAY_BLOCK)
		take_block(k, x);
	else if (k->json)
		note_json(&j, x);
	else
		replay_show_note(k->to, x);
}

static void end(struct replay_sink *s)
{
	struct lines *k = (struct lines *)s;

	for (size_t i = 0; i < k->walks->images.image.n; i++)
		mem_free(k->name[i]);
	mem_free(k->name);
	mem_free(k);
}

static struct replay_sink *lines(FILE *to, const struct walks *w, bool json,
				 bool insns)
{
	struct lines *k = NEW_ARRAY(struct lines, 1);

	*k = (struct lines){.is = {take, end}, .to = to, .walks = w,
			    .json = json, .insns = insns};
	k->name = NEW_ARRAY(char *, w->images.image.n + 1);
	return &k->is;
}

struct replay_sink *replay_show_insns(FILE *to, const struct sink_options *o)
{
	return lines(to, o->walks, o->json, true);
}

struct replay_sink *replay_show_blocks(FILE *to, const struct sink_options *o)
{
	return lines(to, o->walks, o->json, false);
}

struct replay_sink *replay_show_addresses(FILE *to,
					  const struct sink_options *o)
{
	struct replay_sink *s = lines(to, o->walks, o->json, false);

	((struct lines *)s)->addresses = true;
	return s;
}
