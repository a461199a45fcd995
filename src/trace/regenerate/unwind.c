/* unwind: see unwind.h. */
#include "trace/regenerate/unwind.h"

enum {
	STATE_FROM, /* words of the record */
	STATE_SP,
	STATE_REGS,
	MOST_FRAMES = 1 << 12,
};

/* of DWARF, and bits of addresses of code */
enum { X86_SP = 7, X86_LINK = 16, A64_SP = 31, A64_LINK = 30, A64_CODE = 48 };

/* registers, by their numbers of DWARF */
struct frame_regs {
	uint64_t value[UNWIND_REGS];
	uint32_t known; /* bits */
};

struct unwinder {
	const struct mappings *m;
	const struct stream_state *s;
	struct frame_regs reg;
	unsigned sp, link; /* the return address's column */
	uint64_t code;	   /* bits that addresses of code have */
	uint64_t pc, cfa;  /* of the frame that was left last */
};

static const uint8_t x86_regs[] = {3, 6, 12, 13, 14, 15};
static const uint8_t a64_regs[] = {19, 20, 21, 22, 23, 24,
				   25, 26, 27, 28, 29, 30};

static void set(struct unwinder *x, unsigned reg, uint64_t value)
{
	x->reg.value[reg] = value;
	x->reg.known |= UINT32_C(1) << reg;
}

static void forget(struct unwinder *x, unsigned reg)
{
	x->reg.known &= ~(UINT32_C(1) << reg);
}

static bool knows(const struct unwinder *x, unsigned reg)
{
	return reg < UNWIND_REGS && x->reg.known >> reg & 1;
}

/* what the record has; false: too little. How many registers it has tells which
   they are */
static bool begin(struct unwinder *x)
{
	size_t n = x->s->word.n - STATE_REGS;
	bool x86 = n == sizeof x86_regs;
	const uint8_t *regs = x86 ? x86_regs : a64_regs;

	if (!x86 && n != sizeof a64_regs)
		return false;
	x->sp = x86 ? X86_SP : A64_SP;
	x->link = x86 ? X86_LINK : A64_LINK;
	/* they may be signed on AArch64 */
	x->code = x86 ? UINT64_MAX : (UINT64_C(1) << A64_CODE) - 1;
	x->pc = x->s->word.at[STATE_FROM];
	set(x, x->sp, x->s->word.at[STATE_SP]);
	for (size_t i = 0; i < n; i++)
		set(x, regs[i], x->s->word.at[STATE_REGS + i]);
	return true;
}

/* a word of the stack; false: it is not there */
static bool read_stack(const struct unwinder *x, uint64_t at, uint64_t *value)
{
	uint64_t off = at - x->s->word.at[STATE_SP];

	if (off % sizeof *value || off / sizeof *value >= x->s->stack.n)
		return false;
	*value = x->s->stack.at[off / sizeof *value];
	return true;
}

static void restore(struct unwinder *x, const struct unwind_saved *s)
{
	uint64_t value;

	if (s->at != UNWIND_NOWHERE &&
	    read_stack(x, x->cfa + (uint64_t)((int64_t)s->at * 8), &value))
		set(x, s->reg, value);
	else
		forget(x, s->reg);
}

/* the frame of the procedure that is at pc: its CFA; false: not known */
static bool find_cfa(struct unwinder *x, const struct unwind_rule *r)
{
	uint64_t last = x->cfa;

	if (!knows(x, r->cfa))
		return false;
	x->cfa = x->reg.value[r->cfa] + (uint64_t)r->offset;
	/* outer frames lie above; on other stacks nothing is known */
	return x->cfa > last;
}

/* to what called it; false: not known */
static bool leave(struct unwinder *x, const struct unwind_table *t,
		  const struct unwind_rule *r)
{
	for (uint32_t i = 0; i < r->nsaved; i++)
		restore(x, &t->saved.at[r->saved + i]);
	if (!knows(x, x->link))
		return false;
	x->pc = x->reg.value[x->link] & x->code;
	forget(x, x->link);
	set(x, x->sp, x->cfa);
	return x->pc;
}

/* what called, with the stack pointer of the CFA. Code that is not traced is
   one frame, however many it has. False: nothing calls there */
static bool add_frame(struct unwinder *x, struct unwound *u)
{
	struct walk_frame f = {.sp = x->cfa};

	if (!mappings_call(x->m, x->pc, &f.site))
		return false;
	if (f.site.image || !u->frame.n ||
	    u->frame.at[u->frame.n - 1].site.image)
		vec_push(&u->frame, f);
	return true;
}

/* was it called by nothing? What is said of the stack there is not so */
static bool is_outermost(const struct unwinder *x, const struct unwind_table *t,
			 const struct unwind_rule *r)
{
	for (uint32_t i = 0; i < r->nsaved; i++)
		if (t->saved.at[r->saved + i].reg == x->link)
			return t->saved.at[r->saved + i].at == UNWIND_NOWHERE;
	return false;
}

/* one frame further out; false: it is the last that is known */
static bool step(struct unwinder *x, struct unwound *u)
{
	uint64_t base = 0;
	const struct replay_image *m = mappings_image(x->m, x->pc - 1, &base);
	const struct unwind_rule *r =
		m ? unwind_table_find(&m->unwind, x->pc - 1 - base) : NULL;

	if (!r || is_outermost(x, &m->unwind, r) || !find_cfa(x, r))
		return false;
	if (u->frame.n)
		u->frame.at[u->frame.n - 1].caller = x->cfa;
	else
		u->caller = x->cfa;
	return leave(x, &m->unwind, r) && add_frame(x, u);
}

void unwind_state(const struct mappings *m, const struct stream_state *s,
		  struct unwound *u)
{
	struct unwinder x = {.m = m, .s = s};

	u->caller = 0;
	u->frame.n = 0;
	if (s->word.n <= STATE_REGS || !begin(&x))
		return;
	while (u->frame.n < MOST_FRAMES && step(&x, u))
		;
}

void unwound_free(struct unwound *u)
{
	vec_free(&u->frame);
}
