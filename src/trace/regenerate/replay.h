/*
 * replay: what threads of a trace did, thread after thread or in the order of
 * time: blocks, with the numbers of their instructions, and gaps with their
 * borders. What is not asked for is left out, down to single instructions.
 *
 *	replay_begin(&r, &walks, &pick);
 *	while (replay_next(&r, &x))
 *		...
 *	replay_end(&r);
 */
#ifndef TRACE_REGENERATE_REPLAY_H
#define TRACE_REGENERATE_REPLAY_H

#include "base/progress.h"
#include "trace/regenerate/accesses.h"
#include "trace/regenerate/walk.h"

enum replay_kind {
	REPLAY_THREAD, /* what follows is of that thread */
	REPLAY_BLOCK,  /* instructions of one block ran */
	REPLAY_SIGNAL, /* step.number arrived, and a handler runs */
	REPLAY_RESUME, /* which has returned */
	REPLAY_SYSCALL, /* step.number is about to be called */
	REPLAY_GAP,    /* code that is not traced */
	REPLAY_LOST,   /* where it went then is not known: step.why */
	REPLAY_OPEN,   /* a call that is open where it goes on, as WALK_OPEN */
	REPLAY_END,    /* of the thread: step.why */
};

#define REPLAY_ALL UINT32_MAX

struct replay_pick {
	uint32_t process, thread; /* by number, or REPLAY_ALL */
	uint64_t from, count;	  /* instructions of each thread; UINT64_MAX */
	bool accesses; /* they are told, too */
	bool interleave; /* threads by the time at which their parts began */
	struct value_log *log; /* of the values that accesses take, or NULL */
};

/* an instruction beside a gap; image NULL: not known */
struct replay_border {
	const struct replay_image *image;
	uint64_t address;
};

/* one access, of memory that is read, or is written, once */
struct replay_data {
	uint64_t address;
	uint32_t size; /* bytes; MEM_SIZE_UNKNOWN */
	uint8_t kind;  /* enum access_kind */
	bool known;    /* the address is, and that it is just one */
};

struct replay_event {
	uint8_t kind;
	const struct trace_thread *thread;
	/* of the block's first instruction in its thread, from 0; else how many
	   there were */
	uint64_t number;
	/* until the next event: a block is as small as what was asked for */
	struct walk_step *step;
	struct replay_border before, after; /* of a gap */
	/* where instructions access memory, of the block, perhaps of others
	   than were asked for */
	const struct replay_access *access;
	size_t naccess;
};

struct replay_thread {
	const struct trace_thread *is;
	/* the thread of a process in the memory of its own, which is told
	   meanwhile; or NULL. And what of its own was told by then */
	const struct trace_thread *child;
	uint64_t insns_before;
	struct walk walk;
	struct accesses accesses;
	bool begun, over;
	uint64_t insns;	      /* that were told, or left out */
	/* the block that ran last, and which of its instructions; image NULL:
	   none did */
	struct {
		const struct replay_image *image;
		const struct proc_plan *plan;
		uint32_t vertex, insn;
	} last;
	struct walk_step *next; /* that was looked at already, or NULL */
	size_t nchunk;	/* that it has come to */
};

struct replay {
	struct walks *walks;
	struct replay_pick pick;
	VEC(struct replay_thread *) thread; /* that were asked for */
	size_t at;			    /* the one that is told */
	/* it was told last, a block, and all that it did was asked for; or
	   NULL */
	struct replay_thread *whole;
	const struct trace_thread *told;
	/* of processes that were made in the memory of others: the trace has no
	   numbers of these, so that they get those behind all of them */
	VEC(struct trace_thread *) child;
	uint32_t nprocess;
	uint64_t until; /* when another one is next */
	uint32_t nchunk, chunks; /* that were read, and all */
	struct progress *progress; /* or NULL */
};

void replay_begin(struct replay *r, struct walks *w,
		  const struct replay_pick *pick);
/* false: all was told */
bool replay_next(struct replay *r, struct replay_event *x);
void replay_end(struct replay *r);

/* what is done with events */
struct replay_sink {
	void (*take)(struct replay_sink *s, const struct replay_event *x);
	/* writes what is left, and frees it */
	void (*end)(struct replay_sink *s);
};

/* bytes of an instruction of a block */
static inline unsigned replay_size(const struct map *m,
				   const struct map_block *b, uint32_t insn)
{
	return m->insn_size ? m->insn_size : m->length.at[b->length + insn];
}

static inline const struct map_block *replay_block(const struct walk_step *s)
{
	return &s->plan->block[s->vertex];
}

/* the address in the original of an instruction of a step's block */
uint64_t replay_address(const struct walk_step *s, uint32_t insn);
/* the name of an image's file, without folders */
const char *replay_image_name(const struct replay_image *m);

/*
 * insns: each instruction of a block, as simulators want them: with the address
 * that it has in the process.
 *
 *	struct replay_insn i;
 *	replay_insns(&i, x);
 *	while (replay_insn_next(&i))
 */
struct replay_insn {
	uint64_t pc; /* less the event's base: in the original */
	uint32_t size;
	uint32_t left; /* instructions behind it */
	const uint8_t *length; /* of what follows, or NULL: all are `size` */
	uint64_t next;
};
void replay_insns(struct replay_insn *i, const struct replay_event *x);
static inline bool replay_insn_next(struct replay_insn *i)
{
	if (!i->left)
		return false;
	i->left--;
	i->pc = i->next;
	if (i->length)
		i->size = *i->length++;
	i->next += i->size;
	return true;
}

/*
 * data: the accesses of each instruction in turn. To be asked for each
 * instruction of the block (number: in the block), in order, until there are no
 * more.
 *
 *	struct replay_accesses a = {.x = x};
 *	while (replay_data_next(&a, number, &d))
 */
struct replay_accesses {
	const struct replay_event *x;
	size_t at;
	uint64_t times; /* of that access, that were told */
};
static inline bool replay_data_next(struct replay_accesses *k, uint32_t insn,
				    struct replay_data *d)
{
	const struct replay_access *a = NULL;

	for (; k->at < k->x->naccess; k->at++) {
		a = &k->x->access[k->at];
		if (a->insn >= insn && a->times)
			break;
	}
	if (k->at == k->x->naccess || a->insn != insn)
		return false;
	*d = (struct replay_data){a->address + k->times * a->size, a->size,
				  a->kind, a->known};
	if (++k->times == a->times) {
		k->times = 0;
		k->at++;
	}
	return true;
}

#endif
