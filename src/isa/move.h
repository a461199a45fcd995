/*
 * move: how instructions are written at another address.
 *
 * An instruction that does not depend on its own address is copied. Every
 * other has a form, a number of the machine's own, that says how it is
 * written anew: what it refers to stays, only the distance changes, and that
 * may take more instructions. A form that does not reach far enough may have
 * a longer one that does.
 *
 *	form()      the shortest form that the instruction could get
 *	write()     writes it; tells if the target is out of its reach
 *	longer()    the form to try then
 */
#ifndef ISA_MOVE_H
#define ISA_MOVE_H

#include "isa/isa.h"

enum {
	MOVE_COPY = 0,	  /* the bytes as they are */
	MOVE_NEVER = 255, /* it cannot be moved, or is not understood */
};

enum { MOVE_SIZE_MAX = 32, MOVE_SAVE_MAX = 64, MOVE_POISON_MAX = 128 };

/* see isa_move.tell */
enum { TELL_REG = 5, TELL_TABLE = 31 };
struct tell {
	const uint8_t *code; /* the jump or call */
	const struct insn *in;
	bool table;    /* it is to be one through a table of ours, as
			  table_write() writes it */
	uint8_t index; /* then: the index there, which the code restored
			  before it leaves as it is */
	uint32_t number; /* by which it is known, of 32 - TELL_REG bits */
	uint32_t depth; /* of the stack pointer, below where the jump has it */
};

/* what inserted code has to keep */
struct move_saved {
	const uint8_t *reg; /* registers to save, at most six */
	unsigned nreg;
	bool flags;	   /* the condition flags too, in flags_reg */
	uint8_t flags_reg; /* which is dead, or one of those saved */
};

/*
 * An indirect jump through a table, taken apart: an instruction loads entry
 * number `index`, others may make an address of it, the last jumps there.
 * With a table of distances from its own address in 32 bits each, the jump
 * alone does it all, and the others can be left out.
 */
enum { TABLE_JUMP_DROPS = 3 };
struct table_jump {
	uint64_t load, jump; /* addresses */
	uint64_t drop[TABLE_JUMP_DROPS]; /* of those left out, the load
					    first unless it is the jump; 0:
					    fewer than that */
	uint8_t index;	/* a register that stays as it is in between */
	uint8_t extend; /* how it is extended: the machine's own */
	regset lost; /* registers that the code left out would have set, and
			whose values are entries, bases and targets */
};

/* when a hook asks, and about which system calls */
enum hook_kind {
	HOOK_EVERY,  /* always: before all */
	HOOK_NAMES,  /* before those that name a file */
	HOOK_LIFE,   /* before these, and those by which threads and processes
			begin, end, lose rights, or are confined */
	HOOK_BEHIND, /* behind those by which they begin, or become another
			program if they come back */
	HOOK_JUMP,   /* always: it is at no system call, but at longjmp() */
	HOOK_RESUME, /* always: before a return to an old address anywhere */
	HOOK_KINDS,
};

/* how a counter is added to */
enum count_form {
	COUNT_SPOILS, /* where the flags that it changes are dead */
	COUNT_KEEPS,  /* no flag changes */
	COUNT_FORMS,
};

/* registers and FLAG_ bits that are overwritten */
struct add_needs {
	uint8_t regs, flags;
};

/* a constant that is added to a counter in memory */
struct addition {
	uint64_t counter; /* its address */
	int64_t constant;
	/* code that is then executed traps, unless the sum is negative; only
	   where flags may change (COUNT_SPOILS) */
	bool traps;
};

enum { ADD_MAX = 32 }; /* in one piece of code */

/* a call of a routine (runtime/calls.c), with two addresses as arguments */
struct routine_call {
	uint64_t routine;
	uint64_t about; /* one of them */
	/* the other: as much above the stack pointer where the code begins;
	   alone: there is no other */
	uint32_t above;
	bool alone;
	/* it stands directly before or behind a call: nothing of the program
	   lies below the stack pointer, which is the other address */
	bool at_call;
	/* the routine can find that by itself, if it is told so */
	bool finds;
	regset dead; /* registers that need not be kept */
	bool guarded; /* nothing is done if the word `guard` is 0 */
	uint64_t guard;
};
enum { ROUTINE_CALL_MAX = 64 };

/* bits that are appended to a thread's trace (abi/trace.h) */
struct append {
	uint64_t word;	  /* has those that are not written yet */
	uint64_t routine; /* writes it when it is full */
	uint16_t bits;	  /* the lowest n */
	uint8_t n;
	/* the program may have data below the stack pointer */
	bool below;
	/* where add_thread is not NULL: it is the running thread's word, and
	   not the first one's, by add_thread's rule; else it can be made so
	   by what is done to additions */
	bool for_threads, subtract;
};
enum {
	APPEND_STEP = 7, /* bits that are appended at once, at most */
	APPEND_MAX = 128, /* bytes of code */
};

/* registers whose values are appended to a thread's trace, the lowest 1, 2, 4
   or 8 bytes of each */
enum { VALUES_MOST = 4 };
struct append_values {
	uint64_t word;	  /* where the next one goes */
	uint64_t routine; /* makes room */
	uint8_t room;	  /* the bit of that address that says that there is */
	uint8_t reg[VALUES_MOST], size[VALUES_MOST], n;
	bool below;	/* as in struct append */
	uint32_t depth; /* of the stack pointer, below where the program has
			   it */
	bool for_threads, subtract; /* as in struct append */
};

/*
 * A call of a routine that is told where a jump, call or return leads, right
 * before it, and `about`: an address; or a number if it is said so, to which is
 * added what the instruction pops.
 */
struct site_call {
	const uint8_t *code; /* the instruction */
	const struct insn *in;
	uint64_t link; /* not 0: it leads to a stub of the linker, which jumps
			  to where this word points */
	uint64_t routine, about;
	bool number;
	uint32_t depth; /* of the stack pointer, below where the program has
			   it */
};
enum { SITE_CALL_MAX = 64 };

/* one in code that was found */
struct addition_seen {
	struct addition is;
	unsigned end; /* bytes of the code up to its store, and that */
};

struct isa_move {
	uint8_t (*form)(const uint8_t *code, const struct insn *in);
	/* bytes of a form; of a copy, of the instruction */
	uint8_t (*size)(uint8_t form, const struct insn *in);
	/* a form with more reach, or MOVE_NEVER */
	uint8_t (*longer)(uint8_t form);
	/*
	 * The form refers to a copy of in->ref_size constant bytes at in->ref
	 * that has to lie near the new place.
	 */
	bool (*pooled)(uint8_t form);
	/*
	 * Writes the instruction for address `at`. `to` is what it refers to:
	 * the branch target, the data address, or the copy of it. False, and
	 * nothing is written, if that is out of reach.
	 */
	bool (*write)(uint8_t form, const uint8_t *code, const struct insn *in,
		      uint64_t at, uint64_t to, uint8_t *out);

	/*
	 * A call that leaves another return address than that of its new
	 * place: `ret`. kept_size() is 0 if the call cannot be written so.
	 * `to` is what a direct call calls; false if that is out of reach.
	 */
	uint8_t (*kept_size)(const uint8_t *code, const struct insn *in);
	bool (*kept_write)(const uint8_t *code, const struct insn *in,
			   uint64_t at, uint64_t to, uint64_t ret,
			   uint8_t *out);

	/* how Go's function ends that stands for a preemption: an insn_kind */
	uint8_t resumes_by;

	/* a jump that leaves every register as it is, and how far it goes */
	uint8_t jump_size;
	uint64_t jump_reach;
	bool (*jump)(uint64_t at, uint64_t to, uint8_t *out);
	/*
	 * A jump to the start of a procedure, which may lose what any call
	 * may lose before it arrives, and goes further. far_size is 0 where
	 * there is no need for one.
	 */
	uint8_t far_size;
	bool (*far_jump)(uint64_t at, uint64_t to, uint8_t *out);
	/*
	 * A shorter one, where instructions may be shorter than a jump, and
	 * how far it certainly goes in either direction. hop_size is 0 where
	 * every instruction has room for a jump.
	 */
	uint8_t hop_size, hop_reach;
	bool (*hop)(uint64_t at, uint64_t to, uint8_t *out);
	/* fills n bytes, a multiple of isa->align, with traps */
	void (*trap)(uint8_t *out, uint64_t n);
	/*
	 * Does the procedure only tell its caller where it returns to? The
	 * caller computes addresses from that. NULL: not known on this machine.
	 */
	bool (*tells_return)(const uint8_t *code, size_t size);
	/*
	 * Does the code return from a signal handler by rt_sigreturn(), in the
	 * bytes by which unwinders without a table for it, and debuggers, know
	 * the frame of a signal?
	 */
	bool (*leaves_signal)(const uint8_t *code, size_t size);
	/*
	 * Does the code, which ends with a return, return to an address that
	 * it has just put there (retpolines)? NULL: it never does.
	 */
	bool (*jumps_by_return)(const uint8_t *code, size_t size);

	/*
	 * Code that saves registers on the stack and flags in a register, and
	 * code that undoes it. save() and restore() return its bytes, at most
	 * MOVE_SAVE_MAX, and write them if out is not NULL.
	 */
	unsigned (*save)(const struct move_saved *s, uint8_t *out);
	unsigned (*restore)(const struct move_saved *s, uint8_t *out);
	/* by how much the stack pointer is lower in between */
	unsigned (*save_depth)(const struct move_saved *s);
	/* bytes of save() until it is */
	uint8_t save_lead;

	/*
	 * Takes apart the jump at the end of code[0 .. size-1], which starts
	 * at `addr`. t->load is given, and the register that holds the
	 * address of the table, or ISA_NO_REG if the load itself does. False
	 * if it has another form.
	 */
	bool (*table_match)(const uint8_t *code, size_t size, uint64_t addr,
			    unsigned table_reg, struct table_jump *t);
	/*
	 * Writes the jump, with a table at `table`: table_size bytes or, if
	 * that is no nearer than table_reach, table_far_size. Two registers
	 * are overwritten; the second may be the index.
	 */
	bool (*table_write)(const struct table_jump *t, const uint8_t reg[2],
			    bool far, uint64_t at, uint64_t table,
			    uint8_t *out);
	uint8_t table_size, table_far_size;
	uint64_t table_reach;

	/*
	 * A stub of the linker, which jumps to where a word of memory points:
	 * the address of that word; 0 if the code has another form. NULL where
	 * stubs are as short as they can be.
	 */
	uint64_t (*link_match)(const uint8_t *code, size_t size,
			       uint64_t addr);
	/* writes such a stub in fewer instructions; false: out of reach */
	bool (*link_write)(uint64_t at, uint64_t word, uint8_t *out);
	uint8_t link_size;

	/*
	 * A procedure that asks another about some system calls: the word at
	 * `word` points to a structure, the other's second argument, with its
	 * address at `offset`. Called before a system call or behind it, it
	 * leaves all registers and flags as they are, but for what the other
	 * changes.
	 */
	bool (*hook)(enum hook_kind k, uint64_t at, uint64_t word,
		     unsigned offset, uint8_t *out);
	uint16_t (*hook_size)(enum hook_kind k);
	/*
	 * Does it ask about the system call of that number? Behind one, it may
	 * ask about others as well, if the number is overwritten there.
	 */
	bool (*hook_asks)(enum hook_kind k, uint64_t number);
	/*
	 * Is the INSN_SYSCALL one of these numbers? NULL: each is. (int 0x80
	 * has those of another machine.)
	 */
	bool (*own_call)(const uint8_t *code);
	uint8_t number_reg; /* has a system call's number */
	uint8_t result_reg; /* has its result */
	uint16_t unmap_number; /* of the system call munmap */
	/* a call that keeps everything but reg, one of call_regs (0 or 1) */
	bool (*call)(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out);
	uint8_t call_size, call_regs;

	/*
	 * A call of a routine, which keeps all registers, but no flags. Returns
	 * its bytes, ROUTINE_CALL_MAX at most, the same wherever it is, and
	 * writes them if out is not NULL. 0: out of reach.
	 */
	unsigned (*routine_call)(const struct routine_call *x, uint64_t at,
				 uint8_t *out);
	/*
	 * May these bytes have code that accesses what is below the stack
	 * pointer by that? NULL: it does not matter to routine_call().
	 */
	bool (*below_stack)(const uint8_t *code, size_t n);
	/*
	 * Code that appends bits, or values of registers, which loses flags and
	 * append_needs.regs registers, with the stack pointer's value
	 * value_of_sp_needs more; and one that calls a routine before an
	 * indirect jump, call or return, or one to a stub, which loses flags.
	 * They return their bytes, the same wherever they are, and write them
	 * if out is not NULL. 0: out of reach. NULL: not known on this machine.
	 */
	unsigned (*append)(const struct append *x, uint64_t at,
			   const uint8_t *reg, uint8_t *out);
	unsigned (*append_values)(const struct append_values *x, uint64_t at,
				  const uint8_t *reg, uint8_t *out);
	struct add_needs append_needs;
	uint8_t value_of_sp_needs;
	unsigned (*site_call)(const struct site_call *x, uint64_t at,
			      uint8_t *out);
	/* what leads to a page there, at `at`, as it was assembled for routines
	   that begin with it, is to lead to this one; false: out of reach */
	bool (*routine_page)(uint8_t *code, uint64_t at, uint64_t start,
			     uint64_t page);

	/*
	 * A procedure that tells another, found as by a hook, where a jump or
	 * call through a register or memory leads, with the structure and
	 * `about` as further arguments. A call of it keeps everything but reg,
	 * one of call_regs, and says 32 bits: the number and, at the lower
	 * end, TELL_REG bits of the machine's own, TELL_TABLE for a table of
	 * ours. NULL: not known on this machine.
	 */
	bool (*tell_hook)(uint64_t at, uint64_t word, unsigned offset,
			  uint64_t about, uint8_t *out);
	uint16_t tell_hook_size;
	bool (*tell)(const struct tell *t, uint64_t at, uint64_t to,
		     uint8_t reg, uint8_t *out);
	uint8_t tell_size;
	/* the registers by which a jump or call finds its target; false: it
	   has no form for that */
	bool (*jump_reads)(const uint8_t *code, const struct insn *in,
			   regset *reads);

	/*
	 * Code that gives registers and flags other values, for tests of what
	 * is said to be dead; `variant` chooses among several. Flags that
	 * cannot be changed without others, or without a register, stay.
	 * Returns its bytes, at most MOVE_POISON_MAX, and writes them if out
	 * is not NULL.
	 */
	unsigned (*poison)(regset regs, uint8_t flags, unsigned variant,
			   uint8_t *out);

	/*
	 * Code that adds constants to n 64-bit counters of one page, in one of
	 * two forms; add_size() is its bytes. False if a counter is out of
	 * reach. Requires: add_fits() each constant.
	 */
	bool (*add)(enum count_form f, uint64_t at, const struct addition *a,
		    unsigned n, const uint8_t *reg, uint8_t *out);
	unsigned (*add_size)(enum count_form f, const struct addition *a,
			     unsigned n);
	bool (*add_fits)(int64_t constant);
	/* does a thread that trapped, seen at `at`, have to go on elsewhere?
	   By how much; -1: its trap is another */
	int (*trapped)(const uint8_t *code);
	/* what it needs if all it does is add 1 to one counter; and else */
	struct add_needs count_needs[COUNT_FORMS], add_needs[COUNT_FORMS];
	/*
	 * Code that adds to the thread's own counters: as far behind them as
	 * the thread's word says (runtime/counting.h), or before them if that
	 * is subtracted. add_thread_size bytes longer. The code above can be
	 * made to do this while the program runs, by a jump to thread_room
	 * bytes of code no further away than jump_reach. NULL: the code above
	 * does so from the beginning, always adds, and can be made to do
	 * without (runtime/sites.c). Then takes_slot() knows instructions that
	 * change what says how far.
	 */
	bool (*add_thread)(uint64_t at, const struct addition *a, unsigned n,
			   const uint8_t reg[2], bool subtract, uint8_t *out);
	uint8_t add_thread_size, thread_room;
	/* n additions are one place of code that can be changed so, or n */
	bool add_one_site;
	bool (*takes_slot)(const uint8_t *code, const struct insn *in);
	/*
	 * Bytes of code of either kind that begins at code[0], which is at
	 * address `at`; its additions, ADD_MAX at most, and how many. 0: there
	 * is none.
	 */
	unsigned (*add_match)(const uint8_t *code, size_t size, uint64_t at,
			      struct addition_seen seen[ADD_MAX], unsigned *n);
};

#endif
