/*
 * champsim: traces of the simulator ChampSim: 64 bytes for each instruction.
 *
 *	 0	its address
 *	 8	1 if it is a branch; 9: 1 if that is taken
 *	10	two registers that it writes, 12: four that it reads, or 0
 *	16	two addresses that it writes to, 32: four that it reads, or 0
 *
 * ChampSim tells kinds of branches by three registers: the instruction pointer,
 * the stack pointer and the flags. An instruction is written when the next one
 * of its thread is known.
 */
#include "export/trace/code.h"
#include "export/trace/sinks.h"

enum {
	SIZE = 64,
	AT_BRANCH = 8,
	AT_TAKEN = 9,
	AT_WRITES = 10,
	AT_READS = 12,
	AT_STORES = 16,
	AT_LOADS = 32,
	WRITES = 2,
	READS = 4,
	STACK_POINTER = 6,
	FLAGS = 25,
	INSTRUCTION_POINTER = 26,
	FIRST_OTHER = 64, /* numbers of all other registers */
};

struct champsim {
	struct replay_sink is;
	FILE *to;
	struct code code;
	bool holds; /* an instruction that is not written yet */
	uint8_t held[SIZE];
	uint64_t next; /* the address behind it */
	bool always; /* it is taken if it is a branch */
};

struct registers {
	uint8_t *at;
	unsigned n, most;
};

static void add(struct registers *r, uint8_t number)
{
	if (r->n < r->most)
		r->at[r->n++] = number;
}

static void add_others(struct registers *r, regset set, unsigned sp)
{
	for (unsigned i = 0; i < 32; i++)
		if (set >> i & 1 && i != sp)
			add(r, (uint8_t)(FIRST_OTHER + i));
}

static bool is_branch(const struct insn *x)
{
	switch (x->kind) {
	case INSN_JUMP:
	case INSN_COND:
	case INSN_CALL:
	case INSN_RET:
	case INSN_IJUMP:
	case INSN_ICALL:
		return true;
	}
	return false;
}

/* by which ChampSim knows what kind of a branch it is */
static void branch_registers(const struct insn *x, unsigned sp,
			     struct registers *writes, struct registers *reads)
{
	bool calls = x->kind == INSN_CALL || x->kind == INSN_ICALL;

	add(writes, INSTRUCTION_POINTER);
	if (x->kind != INSN_RET)
		add(reads, INSTRUCTION_POINTER);
	if (calls || x->kind == INSN_RET) {
		add(writes, STACK_POINTER);
		add(reads, STACK_POINTER);
	}
	if (x->kind == INSN_COND)
		add(reads, FLAGS);
	if (x->kind == INSN_IJUMP || x->kind == INSN_ICALL)
		add_others(reads, x->reads, sp);
}

static void other_registers(const struct insn *x, unsigned sp,
			    struct registers *writes, struct registers *reads)
{
	if (sp != ISA_NO_REG && x->writes >> sp & 1)
		add(writes, STACK_POINTER);
	if (sp != ISA_NO_REG && x->reads >> sp & 1)
		add(reads, STACK_POINTER);
	add_others(writes, x->writes, sp);
	add_others(reads, x->reads, sp);
	if (x->flags_written)
		add(writes, FLAGS);
	if (x->flags_read)
		add(reads, FLAGS);
}

static void release(struct champsim *k, bool taken)
{
	if (!k->holds)
		return;
	k->held[AT_TAKEN] = k->held[AT_BRANCH] && (k->always || taken);
	fwrite(k->held, 1, sizeof k->held, k->to);
	k->holds = false;
}

static void hold(struct champsim *k, const struct replay_insn *i,
		 const struct insn *x, unsigned sp)
{
	struct registers writes = {k->held + AT_WRITES, 0, WRITES};
	struct registers reads = {k->held + AT_READS, 0, READS};

	memset(k->held, 0, sizeof k->held);
	memcpy(k->held, &i->pc, sizeof i->pc);
	k->held[AT_BRANCH] = is_branch(x);
	if (is_branch(x))
		branch_registers(x, sp, &writes, &reads);
	else
		other_registers(x, sp, &writes, &reads);
	k->always = x->kind != INSN_COND;
	k->next = i->next;
	k->holds = true;
}

/* what it accesses, as far as there is room and it is known */
static void hold_data(struct champsim *k, struct replay_accesses *a,
		      uint32_t insn)
{
	unsigned loads = 0, stores = 0;
	struct replay_data d;

	while (replay_data_next(a, insn, &d)) {
		if (!d.known)
			continue;
		if (d.kind != ACCESS_STORE && loads < READS)
			memcpy(k->held + AT_LOADS + 8 * loads++, &d.address,
			       sizeof d.address);
		if (d.kind != ACCESS_LOAD && stores < WRITES)
			memcpy(k->held + AT_STORES + 8 * stores++, &d.address,
			       sizeof d.address);
	}
}

static void take_block(struct champsim *k, const struct replay_event *x)
{
	const struct walk_step *s = x->step;
	struct replay_accesses a = {.x = x};
	uint32_t n = s->first;
	struct replay_insn i;

	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++) {
		const struct insn *d = code_insn(&k->code, s, n,
						 i.pc - x->step->base);

		release(k, i.pc != k->next);
		hold(k, &i, d, code_sp(&k->code, s));
		hold_data(k, &a, n);
	}
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct champsim *k = (struct champsim *)s;

	if (x->kind == REPLAY_BLOCK)
		take_block(k, x);
	else if (x->kind != REPLAY_SYSCALL)
		release(k, x->kind == REPLAY_GAP);
}

static void end(struct replay_sink *s)
{
	struct champsim *k = (struct champsim *)s;

	release(k, false);
	code_close(&k->code);
	mem_free(k);
}

struct replay_sink *sink_champsim(FILE *to, const struct sink_options *o)
{
	struct champsim *k = NEW_ARRAY(struct champsim, 1);

	k->is = (struct replay_sink){take, end};
	k->to = to;
	code_open(&k->code, o->walks);
	return &k->is;
}
