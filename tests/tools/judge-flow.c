/*
 * judge-flow: does what tally says about an image hold for real executions?
 *
 *	tally cfg --json IMAGE | judge-flow IMAGE TRACE...
 *	tally cfg --json IMAGE | judge-flow --list IMAGE
 *
 * A TRACE is a list of observations by trace-jumps or qemu-flow. What is
 * about IMAGE is compared with the graph; nothing of tally's code is used,
 * only its JSON:
 *
 *	a dispatch	goes to one of its listed targets; a tail call leaves
 *			its procedure or goes to an entry
 *	a transfer	follows an edge of its block; or it is a call, which
 *			goes to an entry; or a return, which goes behind a
 *			call, or to a landing pad
 *	an arrival	from other images or from code left in place is at
 *			an entry, behind a call or at a landing pad, or in a
 *			procedure that is said to be open
 *	a straight run	crosses from block to block along edges
 *
 * --list prints what trace-jumps wants: IMAGE<TAB>ADDRESS of each dispatch.
 * Output otherwise, one line per TRACE that says something about the image and one for
 * all of them together, named "all", then the violations:
 *
 *	image<TAB>IMAGE<TAB>TRACE<TAB>BOUNDED APPROXIMATED UNKNOWN TAIL
 *		TARGETS TRANSFERS IN-PLACE VIOLATIONS (tab between all)
 *	violation<TAB>IMAGE<TAB>TRACE<TAB>WHAT<TAB>FROM<TAB>TO<TAB>PROCEDURE
 *
 * BOUNDED ... TAIL: dispatches that ran; TARGETS: distinct (dispatch, target)
 * of the bounded and approximated ones; TRANSFERS: distinct ones that leave
 * a block; IN-PLACE: distinct ones from code that has no blocks. Exit status
 * 1 if there is a violation.
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/mem.h"

enum {
	INSN_MAX = 15,	/* bytes of the longest instruction */
	SHOWN_MAX = 60, /* violations printed per trace */
};

/* how a block may be entered and left, beside its edges */
enum {
	IN_ENTRY = 1,	/* from anywhere */
	IN_AFTER = 2,	/* by a return */
	IN_PAD = 4,	/* by the unwinder */
	OUT_CALL = 8,	/* a call or system call */
	OUT_RETURN = 16,
	OUT_TAIL = 32,
	OUT_UNKNOWN = 64,
	/* from anywhere, and in its middle, too: it is said to be open, and
	   no unwind table says which code is whose there */
	IN_OPEN = 128,
};

struct node {
	uint64_t start, end;
	uint32_t proc;
	uint8_t flags;
};

struct arc {
	uint64_t from, to;
};

enum { BOUNDED, APPROXIMATED, UNKNOWN, TAIL, AWAY, STATUSES };
static const char *const status_names[STATUSES] = {
	"bounded", "approximated", "unknown", "tail-call", "away"};

struct jump {
	uint64_t at;
	size_t target, ntarget; /* in targets */
	unsigned status;
	bool ran, ran_ever;
};

static VEC(struct node) nodes; /* by start */
static VEC(struct arc) arcs;   /* sorted */
static VEC(struct jump) jumps; /* by address */
static VEC(uint64_t) targets;
static VEC(char *) names; /* of procedures */

/* --- reading the JSON: a record is an object in one of the arrays --- */

/* scalars of the object at hand */
static struct {
	uint64_t start, end, from, to, at, proc;
	char kind[24], status[24], name[256];
	bool entry, pad, open, bare;
	size_t target;
} field;

/* flags of blocks that are known by the address of the block */
static VEC(struct arc) late; /* from: block, to: flags */

static int next_char(void)
{
	int c;

	do
		c = getchar();
	while (isspace(c));
	return c;
}

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "judge-flow: %s\n", what);
	exit(2);
}

/* a string, its opening quote read; escapes stay as they are */
static void read_string(char *to, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = getchar()) != '"') {
		if (c == EOF)
			die("the JSON ends early");
		if (n + 1 < size)
			to[n++] = (char)c;
		if (c == '\\' && (c = getchar()) != EOF && n + 1 < size)
			to[n++] = (char)c;
	}
	to[n] = '\0';
}

/* takes a scalar that a later record needs */
static void on_field(const char *in, const char *key, const char *value)
{
	static const struct {
		const char *key;
		uint64_t *to;
	} address[] = {
		{"start", &field.start}, {"end", &field.end},
		{"from", &field.from}, {"to", &field.to}, {"at", &field.at},
	};

	for (size_t i = 0; i < sizeof address / sizeof *address; i++)
		if (!strcmp(key, address[i].key))
			*address[i].to = strtoull(value, NULL, 16);
	if (!strcmp(key, "kind"))
		snprintf(field.kind, sizeof field.kind, "%s", value);
	else if (!strcmp(key, "status"))
		snprintf(field.status, sizeof field.status, "%s", value);
	else if (!strcmp(key, "name") && !strcmp(in, "procedures"))
		snprintf(field.name, sizeof field.name, "%s", value);
	else if (!strcmp(key, "entry") && !strcmp(in, "blocks"))
		field.entry = true;
	else if (!strcmp(key, "entry"))
		field.proc = strtoull(value, NULL, 16);
	else if (!strcmp(key, "open"))
		field.open = true;
	else if (!strcmp(key, "found_by"))
		field.bare = !strcmp(value, "call") ||
			     !strcmp(value, "pointer");
	else if (!strcmp(key, "landing_pad"))
		field.pad = true;
	else if (!strcmp(key, ""))
		vec_push(&targets, strtoull(value, NULL, 16));
}

static void mark_later(uint64_t block, uint64_t flags)
{
	struct arc a = {block, flags};

	vec_push(&late, a);
}

static void on_edge(void)
{
	struct arc a = {field.from, field.to};

	vec_push(&arcs, a);
	if (!strcmp(field.kind, "after-call")) {
		mark_later(field.from, OUT_CALL);
		mark_later(field.to, IN_AFTER);
	} else if (!strcmp(field.kind, "unwind")) {
		mark_later(field.from, OUT_CALL);
		mark_later(field.to, IN_PAD);
	}
}

static void on_exit_edge(void)
{
	if (!strcmp(field.kind, "return"))
		mark_later(field.from, OUT_RETURN);
	else if (!strcmp(field.kind, "tail-call"))
		mark_later(field.from, OUT_TAIL);
	else if (!strcmp(field.kind, "no-return"))
		mark_later(field.from, OUT_CALL);
	else if (!strcmp(field.kind, "unknown"))
		mark_later(field.from, OUT_UNKNOWN);
	else
		die("an exit of unknown kind");
}

static void on_dispatch(void)
{
	struct jump j = {.at = field.at, .target = field.target,
			 .ntarget = targets.n - field.target};

	while (j.status < STATUSES &&
	       strcmp(field.status, status_names[j.status]))
		j.status++;
	if (j.status == STATUSES)
		die("a dispatch of unknown status");
	vec_push(&jumps, j);
}

/* an object of an array is complete */
static void on_record(const char *in)
{
	struct node n = {field.start, field.end, (uint32_t)names.n, 0};

	if (!strcmp(in, "blocks")) {
		n.flags = (uint8_t)((field.entry ? IN_ENTRY : 0) |
				    (field.open && field.bare ? IN_OPEN : 0) |
				    (field.pad ? IN_PAD : 0));
		vec_push(&nodes, n);
	} else if (!strcmp(in, "edges")) {
		on_edge();
	} else if (!strcmp(in, "exits")) {
		on_exit_edge();
	} else if (!strcmp(in, "dispatches")) {
		on_dispatch();
	} else if (!strcmp(in, "procedures")) {
		mark_later(field.proc, IN_ENTRY);
		vec_push(&names, strdup(field.name));
		field.open = false;
	}
	field.entry = field.pad = false;
}

/* a value that begins with c, of this key, inside the array or object `in` */
static void read_value(int c, const char *in, const char *key)
{
	char text[256], name[32];
	size_t n = 0;

	if (c == '"') {
		read_string(text, sizeof text);
		on_field(in, key, text);
	} else if (c == '[') {
		if (!strcmp(key, "targets"))
			field.target = targets.n;
		while ((c = next_char()) != ']')
			if (c != ',')
				read_value(c, key, "");
	} else if (c == '{') {
		while ((c = next_char()) != '}') {
			if (c == ',')
				continue;
			if (c != '"')
				die("the JSON is wrong");
			read_string(name, sizeof name);
			next_char(); /* : */
			read_value(next_char(), in, name);
		}
		on_record(in);
	} else if (c == EOF) {
		die("the JSON ends early");
	} else { /* a number, true, false */
		do {
			if (n + 1 < sizeof text)
				text[n++] = (char)c;
			c = getchar();
		} while (isalnum(c) || c == '.' || c == '-');
		ungetc(c, stdin);
		text[n] = '\0';
		on_field(in, key, text);
	}
}

static int node_order(const void *a, const void *b)
{
	const struct node *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

static int arc_order(const void *a, const void *b)
{
	const struct arc *p = a, *q = b;

	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return p->to < q->to ? -1 : p->to > q->to;
}

static int jump_order(const void *a, const void *b)
{
	const struct jump *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

static int address_order(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* the block that holds an address, or NULL */
static struct node *node_at(uint64_t addr)
{
	size_t i;

	bisect(i, nodes.n, nodes.at[i].start <= addr);
	return i && addr < nodes.at[i - 1].end ? &nodes.at[i - 1] : NULL;
}

static struct jump *jump_at(uint64_t addr)
{
	struct jump key = {.at = addr};

	return jumps.n ? bsearch(&key, jumps.at, jumps.n, sizeof key,
				 jump_order) : NULL;
}

static bool arc_exists(uint64_t from, uint64_t to)
{
	struct arc key = {from, to};

	return arcs.n && bsearch(&key, arcs.at, arcs.n, sizeof key,
				 arc_order);
}

static void read_graph(void)
{
	read_value(next_char(), "", "");
	if (nodes.n)
		qsort(nodes.at, nodes.n, sizeof *nodes.at, node_order);
	if (arcs.n)
		qsort(arcs.at, arcs.n, sizeof *arcs.at, arc_order);
	if (jumps.n)
		qsort(jumps.at, jumps.n, sizeof *jumps.at, jump_order);
	for (size_t i = 0; i < late.n; i++) {
		struct node *n = node_at(late.at[i].from);

		if (!n || n->start != late.at[i].from)
			die("an edge of what is not a block");
		n->flags |= (uint8_t)late.at[i].to;
	}
}

/* --- judging --- */

static const char *image, *trace_name;
static struct tally {
	uint64_t ran[STATUSES], target, transfer, in_place, violation;
} sum, all;
static VEC(struct arc) targets_ever; /* of all traces */

static void violation(const char *what, uint64_t from, uint64_t to)
{
	const struct node *n = node_at(from);

	if (!n)
		n = node_at(to);
	if (sum.violation++ < SHOWN_MAX)
		printf("violation\t%s\t%s\t%s\t0x%" PRIx64 "\t0x%" PRIx64
		       "\t%s\n", image, trace_name, what, from, to,
		       n ? names.at[n->proc] : "-");
}

/* control comes to a place from where tally sees no edge; is it prepared? */
static void judge_arrival(uint64_t from, uint64_t to, unsigned ways,
			  const char *what)
{
	const struct node *n = node_at(to);

	if (n && !(n->flags & IN_OPEN) &&
	    (n->start != to || !(n->flags & ways)))
		violation(what, from, to);
}

/* the same for a jump that tally does not understand */
static void judge_unknown(uint64_t from, uint64_t to)
{
	const struct node *n = node_at(to);

	if (n && n->start != to && !(n->flags & IN_OPEN))
		violation("unknown jump into a block", from, to);
}

/* a dispatch ran; `here`: its target is in this image */
static void judge_jump(struct jump *j, uint64_t to, bool here)
{
	const struct node *n = node_at(j->at), *m = here ? node_at(to) : NULL;

	if (!j->ran)
		sum.ran[j->status]++;
	if (!j->ran_ever)
		all.ran[j->status]++;
	j->ran = j->ran_ever = true;
	if (j->status == BOUNDED || j->status == APPROXIMATED) {
		struct arc a = {j->at, to};

		sum.target++;
		vec_push(&targets_ever, a);
		if (!here || !bsearch(&to, targets.at + j->target, j->ntarget,
				      sizeof to, address_order))
			violation(j->status == BOUNDED ?
				  "target not listed (bounded)" :
				  "target not listed (approximated)",
				  j->at, to);
	} else if (j->status == TAIL && m && n && m->proc == n->proc &&
		   !(m->flags & IN_ENTRY && m->start == to)) {
		violation("tail call stayed inside", j->at, to);
	} else if (j->status == TAIL && here) {
		judge_arrival(j->at, to, IN_ENTRY | IN_AFTER | IN_PAD,
			      "tail call to no entry");
	} else if (j->status == AWAY && here) {
		judge_arrival(j->at, to, IN_ENTRY | IN_AFTER | IN_PAD,
			      "a jump away to no place that is entered");
	} else if (here) {
		judge_unknown(j->at, to);
	}
}

/* control leaves a block other than along an edge */
static void judge_leaving(const struct node *n, uint64_t from, uint64_t to,
			  bool here)
{
	if (n->end - from > INSN_MAX)
		violation("jump from the middle of a block", from, to);
	else if (!(n->flags & ~(IN_ENTRY | IN_AFTER | IN_PAD)))
		violation("no such edge", from, to);
	else if (!here)
		return;
	else if (n->flags & OUT_CALL)
		judge_arrival(from, to, IN_ENTRY, "call to no entry");
	else if (n->flags & OUT_RETURN)
		judge_arrival(from, to, IN_AFTER | IN_PAD,
			      "return to no return point");
	else if (n->flags & OUT_TAIL)
		judge_arrival(from, to, IN_ENTRY, "tail call to no entry");
	else
		judge_unknown(from, to);
}

/* one instruction after another, both executed */
static void judge_flow(uint64_t from, uint64_t to, bool here)
{
	const struct node *n = node_at(from);
	struct jump *j = jump_at(from);

	if (j)
		judge_jump(j, to, here);
	if (!n) {
		sum.in_place++;
		if (here)
			judge_arrival(from, to, IN_ENTRY | IN_AFTER | IN_PAD,
				      "arrival from code left in place");
		return;
	}
	if (j || from == to) /* judged; or a string instruction repeats */
		return;
	if (here && to > from && to < n->end && to - from <= INSN_MAX)
		return;
	sum.transfer++;
	if (!here || n->end - from > INSN_MAX || !arc_exists(n->start, to))
		judge_leaving(n, from, to, here);
}

/* a block that runs on into the procedure that begins where it ends */
static bool runs_into(const struct node *n, const struct node *next)
{
	return n->flags & OUT_TAIL && next && next->start == n->end &&
	       next->flags & IN_ENTRY;
}

/* a prefix that may be jumped over; it runs with what follows it */
static bool is_prefix(const struct node *n, const struct node *next)
{
	return n->end - n->start == 1 && next && next->start == n->end &&
	       arc_exists(n->start, next->end);
}

/* straight code from one instruction to another */
static void judge_run(uint64_t first, uint64_t last)
{
	const struct node *n = node_at(first);

	while (n && n->end <= last) {
		const struct node *next = node_at(n->end);

		if (is_prefix(n, next)) {
			n = node_at(next->end);
			continue;
		}
		if (!arc_exists(n->start, n->end) && !runs_into(n, next)) {
			violation("runs on behind the end of a block",
				  n->start, n->end);
			return;
		}
		n = next;
	}
}

/* one line of a trace: WHAT IMAGE FROM IMAGE TO COUNT */
static void judge_line(char *line)
{
	char *part[6], *save = line;
	uint64_t from, to;
	bool from_here, to_here;

	for (int i = 0; i < 6; i++)
		if (!(part[i] = strsep(&save, "\t\n")))
			return;
	from = strtoull(part[2], NULL, 16);
	to = strtoull(part[4], NULL, 16);
	from_here = !strcmp(part[1], image);
	to_here = !strcmp(part[3], image);
	if (!strcmp(part[0], "run")) {
		if (from_here && to_here)
			judge_run(from, to);
	} else if (!strcmp(part[0], "jump")) {
		struct jump *j = from_here ? jump_at(from) : NULL;

		if (j)
			judge_jump(j, to, to_here);
	} else if (from_here) {
		judge_flow(from, to, to_here);
	} else if (to_here) {
		judge_arrival(from, to, IN_ENTRY | IN_AFTER | IN_PAD,
			      "arrival from another image");
	}
}

static void print_sum(const char *name, const struct tally *t)
{
	printf("image\t%s\t%s", image, name);
	for (int i = 0; i <= TAIL; i++)
		printf("\t%" PRIu64, t->ran[i]);
	printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	       t->target, t->transfer, t->in_place, t->violation);
}

static void judge_trace(const char *name)
{
	static char line[2 * PATH_MAX + 256];
	FILE *f = fopen(name, "re");
	bool any = false;

	if (!f)
		die("cannot open a trace");
	trace_name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	sum = (struct tally){0};
	for (size_t i = 0; i < jumps.n; i++)
		jumps.at[i].ran = false;
	while (fgets(line, sizeof line, f))
		if (strstr(line, image)) {
			any = true;
			judge_line(line);
		}
	fclose(f);
	all.transfer += sum.transfer;
	all.in_place += sum.in_place;
	all.violation += sum.violation;
	if (any)
		print_sum(trace_name, &sum);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: judge-flow IMAGE TRACE... <JSON\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--list")) {
		read_graph();
		for (size_t i = 0; i < jumps.n; i++)
			printf("%s\t0x%" PRIx64 "\n", argv[2],
			       jumps.at[i].at);
		return 0;
	}
	image = argv[1];
	read_graph();
	for (int i = 2; i < argc; i++)
		judge_trace(argv[i]);
	if (targets_ever.n)
		qsort(targets_ever.at, targets_ever.n,
		      sizeof *targets_ever.at, arc_order);
	for (size_t i = 0; i < targets_ever.n; i++)
		all.target += !i || arc_order(&targets_ever.at[i],
					      &targets_ever.at[i - 1]);
	print_sum("all", &all);
	return all.violation != 0;
}
