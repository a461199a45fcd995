/*
 * make-profile DIR [WORD...]: DIR/profile, as a program of two processes and
 * a thread would leave it, and the rewritten files DIR/prog and DIR/libz that
 * it names. What it counted can be worked out by hand (tests/e2e/
 * count/report.t). Words change it:
 *
 *	trouble        something went wrong while counting
 *	contradiction  counters of the procedure `odd` contradict each other
 *	lost           the rewritten library is gone
 *	more           the same program a little later
 *	running PID    the second process is that one
 *	wide N         N procedures more, each run once
 *	stays          a procedure more, a part of which is not measured
 *	left           images ran that were not counted
 *	inside         DIR/inside, too: what is compressed in the map of prog
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart_map.h"
#include "count/map/map_int.h"
#include "make_profile.h"

enum { NO = -1 }; /* no counter */

/* a map while it is written down; `at` is where the next block begins */
struct sketch {
	struct map m;
	uint64_t at;
};

static struct map_proc *last_proc(struct sketch *s)
{
	return &s->m.proc.at[s->m.proc.n - 1];
}

static void proc(struct sketch *s, const char *name, uint64_t entry)
{
	struct map_proc p = {.entry = entry, .name = name,
			     .block = (uint32_t)s->m.block.n,
			     .edge = (uint32_t)s->m.edge.n};

	vec_push(&s->m.proc, p);
	s->at = entry;
}

/* a block; lengths of its instructions where they differ, or n of 4 */
static void block(struct sketch *s, const char *lengths, uint32_t n)
{
	struct map_block b = {.start = s->at, .ninsn = n, .counter = MAP_NONE,
			      .size = n * s->m.insn_size,
			      .length = (uint32_t)s->m.length.n};

	for (; *lengths; lengths++) {
		vec_push(&s->m.length, (uint8_t)(*lengths - '0'));
		b.size += (uint32_t)(*lengths - '0');
		b.ninsn++;
	}
	if (s->m.insn_size)
		b.length = 0;
	vec_push(&s->m.block, b);
	last_proc(s)->nblock++;
	s->at += b.size;
}

static struct map_edge *edge(struct sketch *s, enum map_kind kind,
			     uint32_t from, uint32_t to, int counter)
{
	struct map_edge e = {.from = from, .to = to, .kind = (uint8_t)kind,
			     .counter = (uint32_t)counter};

	vec_push(&s->m.edge, e);
	last_proc(s)->nedge++;
	if (counter != NO && s->m.ncounter <= e.counter)
		s->m.ncounter = e.counter + 1;
	return &s->m.edge.at[s->m.edge.n - 1];
}

/* block number `block` of the map ends with an indirect jump or call */
static void site(struct sketch *s, uint32_t block, bool call, bool pairs)
{
	struct map_site x = {block, call, pairs};

	vec_push(&s->m.site, x);
}

/* one block, entered and left */
static void simple(struct sketch *s, const char *name, uint64_t entry,
		   uint32_t ninsn, int counter)
{
	proc(s, name, entry);
	block(s, "", ninsn);
	edge(s, MAP_ENTRY, 1, 0, counter);
	edge(s, MAP_RETURN, 0, 1, NO);
}

/* a block, code that stays in place, and another block */
static void draw_partly(struct sketch *s)
{
	static const struct map_region gap = {0x6008, 0x6010, "in doubt"};

	proc(s, "partly", 0x6000);
	block(s, "", 2);
	s->at = gap.end;
	block(s, "", 1);
	edge(s, MAP_ENTRY, 2, 0, 9);
	edge(s, MAP_TAKEN, 0, 1, 10);
	edge(s, MAP_STAYS, 0, 2, NO);
	edge(s, MAP_RETURN, 1, 2, NO);
	vec_push(&s->m.in_place, gap);
}

static void draw_prog(struct sketch *s, unsigned wide, bool stays)
{
	static const struct map_region in_place[] = {
		{0x900, 0x910, "a linker stub"},
		{0x920, 0x930, "not proved to be code"},
		{0x930, 0x938, "a linker stub"},
	};

	s->m = (struct map){.path = "/opt/app/prog", .insn_size = 4,
			    .id = "prog", .machine = EM_AARCH64,
			    .build_id = {0xab, 0xcd}, .build_id_len = 2,
			    .text_bytes = 200, .moved_bytes = 160};
	proc(s, "main", 0x1000);
	block(s, "", 3);
	block(s, "", 2);
	block(s, "", 1);
	edge(s, MAP_ENTRY, 3, 0, NO);
	edge(s, MAP_CALL, 0, 3, 0)->callee = 0x2000;
	edge(s, MAP_BACK, 3, 1, 1);
	edge(s, MAP_TAKEN, 1, 1, 2);
	edge(s, MAP_FALL, 1, 2, NO);
	edge(s, MAP_RETURN, 2, 3, NO);
	simple(s, NULL, 0x2000, 4, 3);
	simple(s, "dark", 0x3000, 2, 4);
	last_proc(s)->unknown = "an indirect jump";
	simple(s, "never", 0x4000, 9, 5);
	proc(s, "odd", 0x5000);
	block(s, "", 1);
	edge(s, MAP_ENTRY, 1, 0, NO);
	edge(s, MAP_CALL, 0, 1, 6);
	edge(s, MAP_BACK, 1, 0, 7);
	edge(s, MAP_RETURN, 0, 1, 8);
	site(s, (uint32_t)s->m.block.n - 1, true, false);
	for (unsigned i = 0; i < wide; i++)
		simple(s, NULL, 0x10000 + 16 * i, 1, (int)(9 + i));
	for (unsigned i = 0; i < 3; i++)
		vec_push(&s->m.in_place, in_place[i]);
	if (stays)
		draw_partly(s);
}

static void draw_libz(struct sketch *s)
{
	s->m = (struct map){.path = "/usr/lib/libz.so.1", .id = "libz",
			    .machine = EM_X86_64, .text_bytes = 99,
			    .moved_bytes = 99};
	proc(s, "in\033flate", 0x500);
	block(s, "135", 0);
	block(s, "22", 0);
	block(s, "9", 0);
	last_proc(s)->nhub = 1;
	edge(s, MAP_ENTRY, 4, 0, NO);
	edge(s, MAP_TO_HUB, 0, 3, NO);
	edge(s, MAP_FROM_HUB, 3, 1, 0);
	edge(s, MAP_FROM_HUB, 3, 2, 1);
	edge(s, MAP_RETURN, 1, 4, NO);
	edge(s, MAP_TAIL, 2, 4, NO);
	site(s, 0, false, true);
	site(s, 2, false, true);
}

/* what the words say */
struct wish {
	bool trouble, contradiction, lost, more, inside, stays, left;
	unsigned wide, running;
};

static void read_wish(char **word, struct wish *w)
{
	for (; *word; word++) {
		w->trouble |= !strcmp(*word, "trouble");
		w->contradiction |= !strcmp(*word, "contradiction");
		w->lost |= !strcmp(*word, "lost");
		w->more |= !strcmp(*word, "more");
		w->inside |= !strcmp(*word, "inside");
		w->stays |= !strcmp(*word, "stays");
		w->left |= !strcmp(*word, "left");
		if (!strcmp(*word, "wide") && word[1])
			w->wide = (unsigned)atoi(*++word);
		else if (!strcmp(*word, "running") && word[1])
			w->running = (unsigned)atoi(*++word);
	}
}

/* the jumps of the library lead inside it, into the program, and elsewhere */
static void write_pairs(buffer *b, const struct map *prog,
			const struct map *libz)
{
	struct pair x[] = {
		{.site = 0, .to = 0x509, .count = 999999000},
		{.site = 0, .to = 0x50d, .count = 5},
		{.site = 0, .to = 0x509, .count = 998},
		{.site = 1, .to = 0x2000, .count = 3},
		{.site = 1, .count = 2},
	};

	for (unsigned i = 0; i < sizeof x / sizeof *x; i++) {
		x[i].state = PAIR_READY;
		memcpy(&x[i].image, libz->id, sizeof x[i].image);
		if (x[i].to)
			memcpy(&x[i].to_image, x[i].site ? prog->id : libz->id,
			       sizeof x[i].to_image);
	}
	live_pairs(b, 1, x, sizeof x / sizeof *x);
}

/* images that ran uncounted, one of them in the second process only */
static void write_left(buffer *b, const struct map *libz)
{
	live_left(b, 0, LEFT_REFUSED, "/opt/app/static", "it is odd");
	live_left(b, 1, LEFT_OUT, "/usr/lib/lib\033c.so", "");
	live_left(b, 2, LEFT_REFUSED, libz->path, "");
	live_left(b, 2, 77, "/usr/lib/liblater.so", "unheard of");
}

static void write_run(buffer *b, const struct wish *w, const struct map *prog,
		      const char *prog_file, const struct map *libz,
		      const char *libz_file)
{
	uint64_t *first = NEW_ARRAY(uint64_t, prog->ncounter);
	uint64_t second[11] = {1, 1, 2};
	uint64_t lib[2] = {400000000, 5}, thread[2] = {600000000, 0};
	uint64_t start[9] = {1, 1, w->more ? 15 : 5, 2, 1, 0, 1, 1, 1};

	memcpy(first, start, sizeof start);
	first[7] = w->contradiction ? 5 : 1;
	for (unsigned i = 0; i < w->wide; i++)
		first[9 + i] = 1;
	if (w->stays) {
		first[9] = 7;
		first[10] = 4;
	}
	live_begin(b, EM_AARCH64, "placement=edges", "prog -x");
	live_header(b)->trouble = w->trouble ? TROUBLE_NO_SPACE | TROUBLE_FORK
					     : 0;
	live_process(b, 1, 5000101, 0, "prog");
	live_counters(b, 1, prog, prog_file, 0, first);
	live_gap(b, 1);
	live_counters(b, 1, libz, libz_file, 0, lib);
	live_counters(b, 1, libz, libz_file, 1, thread);
	write_pairs(b, prog, libz);
	if (!w->wide) {
		live_process(b, 2, w->running ? w->running : 5000102, 1,
			     "prog");
		live_counters(b, 2, prog, prog_file, 0, second);
	}
	if (w->left)
		write_left(b, libz);
	live_gap(b, 3);
	mem_free(first);
}

/* the bytes of a map as they are before they are compressed, of version 3 */
static bool write_inside(const char *dir, const struct map *m)
{
	struct map_bytes packed = {0};
	struct apart_map x;
	buffer inside = {0};
	char name[4096];
	bool good;

	snprintf(name, sizeof name, "%s/inside", dir);
	map_pack(m, &packed);
	apart_make(&x, packed.v.at, packed.v.n);
	apart_columns(&x, &inside);
	good = write_whole(name, inside.at, inside.n);
	apart_free(&x);
	vec_free(&packed.v);
	vec_free(&inside);
	return good;
}

int main(int argc, char **argv)
{
	struct wish w = {0};
	struct sketch prog = {0}, libz = {0};
	char name[3][4096];
	buffer b = {0};

	if (argc < 2)
		return 2;
	read_wish(argv + 2, &w);
	snprintf(name[0], sizeof name[0], "%s/prog", argv[1]);
	snprintf(name[1], sizeof name[1], "%s/libz", argv[1]);
	snprintf(name[2], sizeof name[2], "%s/profile", argv[1]);
	draw_prog(&prog, w.wide, w.stays);
	draw_libz(&libz);
	write_run(&b, &w, &prog.m, name[0], &libz.m, name[1]);
	if (!write_map_file(name[0], &prog.m) ||
	    !write_map_file(name[1], &libz.m) || !live_write(&b, name[2]))
		return 1;
	if (w.inside && !write_inside(argv[1], &prog.m))
		return 1;
	if (w.lost)
		unlink(name[1]);
	map_release(&prog.m);
	map_release(&libz.m);
	vec_free(&b);
	return 0;
}
