/*
 * compare-a64: do binutils and our AArch64 decoder read a program alike?
 *
 *	objdump -d -M no-aliases FILE | compare-a64 [-v] [KNOWN]
 *	compare-a64 -r COUNT SEED >WORDS      (random words, for objdump -D)
 *
 * Each line of the disassembly holds the word and binutils' reading of it.
 * From the mnemonic and the operands shown we derive what the instruction
 * should do: its kind and target, the address it refers to, general registers
 * read and written, flags, memory. The rules below are written from the
 * assembly syntax ("the first operand is the destination", "[...]! updates
 * the base"), not from encodings, so that a wrong bit field in the decoder
 * cannot hide behind the same mistake here.
 *
 * KNOWN lists differences that are understood, one per line:
 *
 *	what mnemonic mask/value reason...
 *
 * `what` is the name of the field that differs, or `missing` (binutils knows
 * the word and we do not) or `extra` (the reverse); the mnemonic may be a
 * glob; mask/value restricts the words. Output: the first differences of each
 * mnemonic, then one line of totals; exit status 1 if any is not known.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "splitmix.h"

enum {
	MAX_OPERANDS = 10,
	MAX_KNOWN = 128,
	MAX_SHOWN = 400, /* differences printed without -v */
	LR = 30,
	SP = 31,
	NZCV = FLAG_N | FLAG_Z | FLAG_C | FLAG_V,
};

/* what a mnemonic says, apart from its operands */
enum {
	NO_DEST = 1, /* operand 0 is a source, too */
	RW_DEST = 2, /* operand 0 is read as well */
	LOAD = 4,
	STORE = 8,
	STATUS = 16,     /* a store whose operand 0 is written */
	ATOMIC = 32,     /* operand 0 source, operand 1 destination */
	SWAP = 64,       /* compare and swap: operand 0 read and written */
	PAIR_SWAP = 128, /* operands 0 and 1 read and written */
	SET_FLAGS = 256,
	GET_FLAGS = 512,
	COND_LAST = 1024, /* the last operand is a condition */
	TARGET = 2048,    /* the last operand is the branch target */
	REF = 4096,       /* the last operand may be an address referred to */
	COUNTER = 8192,   /* SVE incb: destination is read unless named again */
	MOVES = 16384,    /* cpy set: operands with ! are read and written */
};

struct rule {
	const char *name; /* a prefix if it ends in '*' */
	uint8_t kind;     /* enum insn_kind, INSN_BAD for INSN_SEQ */
	unsigned what;
};

/* looked up in order; the first that fits counts */
static const struct rule rules[] = {
	{"b", INSN_JUMP, TARGET},
	{"bl", INSN_CALL, TARGET},
	{"b.al", INSN_JUMP, TARGET},
	{"b.nv", INSN_JUMP, TARGET},
	{"bc.al", INSN_JUMP, TARGET},
	{"bc.nv", INSN_JUMP, TARGET},
	{"b.*", INSN_COND, TARGET | GET_FLAGS},
	{"bc.*", INSN_COND, TARGET | GET_FLAGS},
	{"cbz", INSN_COND, TARGET | NO_DEST},
	{"cbnz", INSN_COND, TARGET | NO_DEST},
	{"tbz", INSN_COND, TARGET | NO_DEST},
	{"tbnz", INSN_COND, TARGET | NO_DEST},
	{"br", INSN_IJUMP, NO_DEST},
	{"bra*", INSN_IJUMP, NO_DEST},
	{"blr*", INSN_ICALL, NO_DEST},
	{"ret*", INSN_RET, NO_DEST},
	{"eret*", INSN_RET, NO_DEST},
	{"drps", INSN_RET, 0},
	{"svc", INSN_SYSCALL, 0},
	{"hvc", INSN_SYSCALL, 0},
	{"smc", INSN_SYSCALL, 0},
	{"brk", INSN_TRAP, 0},
	{"hlt", INSN_TRAP, 0},
	{"udf", INSN_TRAP, 0},
	{"dcps*", INSN_TRAP, 0},
	{"adr", 0, REF},
	{"adrp", 0, REF},
	{"prf*", 0, NO_DEST | REF},
	{"ldadd*", 0, ATOMIC},
	{"ldclr*", 0, ATOMIC},
	{"ldeor*", 0, ATOMIC},
	{"ldset*", 0, ATOMIC},
	{"ldsmax*", 0, ATOMIC},
	{"ldsmin*", 0, ATOMIC},
	{"ldumax*", 0, ATOMIC},
	{"ldumin*", 0, ATOMIC},
	{"swp*", 0, ATOMIC},
	{"casp*", 0, PAIR_SWAP},
	{"cas*", 0, SWAP},
	{"ldg", 0, RW_DEST}, /* tags are not memory */
	{"ldgm", 0, 0},
	{"stg", 0, NO_DEST},
	{"st2g", 0, NO_DEST},
	{"stgm", 0, NO_DEST},
	{"ld*", 0, LOAD | REF},
	{"stxr*", 0, STORE | STATUS},
	{"stlxr*", 0, STORE | STATUS},
	{"stxp", 0, STORE | STATUS},
	{"stlxp", 0, STORE | STATUS},
	{"st64bv*", 0, STORE | STATUS},
	{"st*", 0, STORE},
	{"cpyp*", 0, MOVES | LOAD | STORE | SET_FLAGS},
	{"cpyfp*", 0, MOVES | LOAD | STORE | SET_FLAGS},
	{"cpym*", 0, MOVES | LOAD | STORE | GET_FLAGS},
	{"cpye*", 0, MOVES | LOAD | STORE | GET_FLAGS},
	{"cpyf*", 0, MOVES | LOAD | STORE | GET_FLAGS},
	{"setp*", 0, MOVES | STORE | SET_FLAGS},
	{"setgp*", 0, MOVES | STORE | SET_FLAGS},
	{"setm*", 0, MOVES | STORE | GET_FLAGS},
	{"sete*", 0, MOVES | STORE | GET_FLAGS},
	{"setgm*", 0, MOVES | STORE | GET_FLAGS},
	{"setge*", 0, MOVES | STORE | GET_FLAGS},
	{"movk", 0, RW_DEST},
	{"bfm", 0, RW_DEST},
	{"pacga", 0, 0},
	{"pac*", 0, RW_DEST},
	{"aut*", 0, RW_DEST},
	{"xpac*", 0, RW_DEST},
	{"msr", 0, NO_DEST},
	{"sys", 0, NO_DEST},
	{"wfet", 0, NO_DEST},
	{"wfit", 0, NO_DEST},
	{"ccmp", 0, NO_DEST | SET_FLAGS | GET_FLAGS | COND_LAST},
	{"ccmn", 0, NO_DEST | SET_FLAGS | GET_FLAGS | COND_LAST},
	{"fccmp*", 0, NO_DEST | SET_FLAGS | GET_FLAGS | COND_LAST},
	{"csel", 0, GET_FLAGS | COND_LAST},
	{"csinc", 0, GET_FLAGS | COND_LAST},
	{"csinv", 0, GET_FLAGS | COND_LAST},
	{"csneg", 0, GET_FLAGS | COND_LAST},
	{"fcsel", 0, GET_FLAGS | COND_LAST},
	{"adds", 0, SET_FLAGS},
	{"subs", 0, SET_FLAGS},
	{"ands", 0, SET_FLAGS},
	{"bics", 0, SET_FLAGS},
	{"subps", 0, SET_FLAGS},
	{"fcmp", 0, SET_FLAGS},
	{"fcmpe", 0, SET_FLAGS},
	{"fjcvtzs", 0, SET_FLAGS},
	{"rmif", 0, NO_DEST | SET_FLAGS},
	{"setf8", 0, NO_DEST | SET_FLAGS},
	{"setf16", 0, NO_DEST | SET_FLAGS},
	{"cfinv", 0, SET_FLAGS | GET_FLAGS},
	{"axflag", 0, SET_FLAGS | GET_FLAGS},
	{"xaflag", 0, SET_FLAGS | GET_FLAGS},
	/* SVE */
	{"while*", 0, SET_FLAGS},
	{"cterm*", 0, NO_DEST | SET_FLAGS | GET_FLAGS},
	{"ptest", 0, SET_FLAGS},
	{"ptrues", 0, SET_FLAGS},
	{"pfirst", 0, SET_FLAGS},
	{"pnext", 0, SET_FLAGS},
	{"match", 0, SET_FLAGS},
	{"nmatch", 0, SET_FLAGS},
	{"orrs", 0, SET_FLAGS},
	{"eors", 0, SET_FLAGS},
	{"orns", 0, SET_FLAGS},
	{"nors", 0, SET_FLAGS},
	{"nands", 0, SET_FLAGS},
	{"brkas", 0, SET_FLAGS},
	{"brkbs", 0, SET_FLAGS},
	{"brkns", 0, SET_FLAGS},
	{"brkpas", 0, SET_FLAGS},
	{"brkpbs", 0, SET_FLAGS},
	{"rdffrs", 0, SET_FLAGS},
	{"inc*", 0, COUNTER},
	{"dec*", 0, COUNTER},
	{"sqinc*", 0, COUNTER},
	{"sqdec*", 0, COUNTER},
	{"uqinc*", 0, COUNTER},
	{"uqdec*", 0, COUNTER},
	{NULL, 0, 0},
};

/* one line of the disassembly */
struct line {
	uint64_t addr;
	uint32_t word;
	char text[256]; /* split into the strings below */
	const char *mnemonic;
	char *operand[MAX_OPERANDS];
	unsigned n;
};

struct known {
	char what[16], mnemonic[32];
	uint32_t mask, value;
	char reason[160];
	uint64_t count;
};

static struct known known[MAX_KNOWN];
static unsigned n_known;
static uint64_t n_compared, n_known_hits, n_unexplained, n_undefined;
static bool verbose;

/* the rule for mnemonic m, or one that says nothing */
static const struct rule *rule_find(const char *m)
{
	const struct rule *r;
	size_t len;

	for (r = rules; r->name; r++) {
		len = strlen(r->name);
		if (r->name[len - 1] == '*' ? !strncmp(r->name, m, len - 1)
					    : !strcmp(r->name, m))
			break;
	}
	return r;
}

/* rule_find, remembering the last answers by a hash of the name */
static const struct rule *rule_cached(const char *m)
{
	static struct {
		char name[24];
		const struct rule *rule;
	} cache[1024];
	unsigned h = 0;

	for (const char *p = m; *p; p++)
		h = h * 31 + (unsigned char)*p;
	h %= 1024;
	if (strlen(m) >= sizeof(cache[h].name))
		return rule_find(m);
	if (strcmp(cache[h].name, m)) {
		strcpy(cache[h].name, m);
		cache[h].rule = rule_find(m);
	}
	return cache[h].rule;
}

/* the register named by the word s[0..len-1]: its set, sp as 31, or 0 */
static regset reg_by_name(const char *s, size_t len)
{
	unsigned n = 0;

	if ((len == 2 && !memcmp(s, "sp", 2)) ||
	    (len == 3 && !memcmp(s, "wsp", 3)))
		return UINT32_C(1) << SP;
	if (len < 2 || len > 3 || (*s != 'x' && *s != 'w'))
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		n = n * 10 + (unsigned)(s[i] - '0');
	}
	return n <= LR ? UINT32_C(1) << n : 0;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '#';
}

/* all general registers that operand s mentions */
static regset operand_regs(const char *s)
{
	regset set = 0;
	size_t len;

	while (*s) {
		for (len = 0; is_word_char(s[len]); len++)
			;
		set |= reg_by_name(s, len);
		s += len ? len : 1;
	}
	return set;
}

/* is the word s[0..len-1] a vector, predicate or tile register? */
static bool is_vector_name(const char *s, size_t len)
{
	if (len < 2 || !strchr("vzqdshbp", *s))
		return false;
	if (s[0] == 'z' && s[1] == 'a')
		return true;
	for (size_t i = 1; i < len; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

/* does operand s mention a vector register? */
static bool operand_is_vector(const char *s)
{
	size_t len;

	while (*s) {
		for (len = 0; is_word_char(s[len]); len++)
			;
		if (is_vector_name(s, len))
			return true;
		s += len ? len : 1;
	}
	return false;
}

/* split the text after the word into mnemonic and operands */
static void line_split(struct line *l)
{
	char *p = l->text, *end;
	int depth = 0;

	for (end = p; *end && *end != '\n' && *end != '<'; end++)
		if (end[0] == '/' && end[1] == '/')
			break;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	l->mnemonic = p;
	l->n = 0;
	p += strcspn(p, " \t");
	if (!*p)
		return;
	*p++ = 0;
	p += strspn(p, " \t");
	l->operand[l->n++] = p;
	for (; *p && l->n < MAX_OPERANDS; p++) {
		depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
		if (*p != ',' || depth)
			continue;
		*p++ = 0;
		p += strspn(p, " \t");
		l->operand[l->n++] = p;
		p--;
	}
}

/* parse "  addr:\tword \ttext"; false for other lines, dumps of data too */
static bool line_parse(char *s, struct line *l)
{
	char *p;

	if (*s != ' ')
		return false;
	l->addr = strtoull(s, &p, 16);
	if (p == s || p[0] != ':' || p[1] != '\t')
		return false;
	s = p + 2;
	l->word = (uint32_t)strtoul(s, &p, 16);
	if (p - s != 8 || strncmp(p, " \t", 2))
		return false;
	p += strspn(p, " \t");
	snprintf(l->text, sizeof(l->text), "%s", p);
	line_split(l);
	return true;
}

static bool is_address(const char *operand)
{
	return operand[0] == '[';
}

/* the flags that a condition's name looks at */
static uint8_t cond_flags(const char *name)
{
	static const struct {
		const char *names;
		uint8_t flags;
	} table[] = {
		{"eq ne none any", FLAG_Z},
		{"cs cc hs lo nlast last", FLAG_C},
		{"mi pl first nfrst", FLAG_N},
		{"vs vc", FLAG_V},
		{"hi ls pmore plast", FLAG_C | FLAG_Z},
		{"ge lt tcont tstop", FLAG_N | FLAG_V},
		{"gt le", FLAG_N | FLAG_Z | FLAG_V},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(table[i].names, name))
			return table[i].flags;
	return 0;
}

/* registers of the address operands: base read, and written if updated */
static void expect_address(const struct line *l, unsigned i, struct insn *e)
{
	const char *s = l->operand[i];
	regset base;
	size_t len = strcspn(s + 1, ",]");

	base = reg_by_name(s + 1, len);
	e->reads |= operand_regs(s);
	if (s[strlen(s) - 1] == '!' || i + 1 < l->n)
		e->writes |= base;
}

/* hints that use registers, by number */
static void expect_hint(const struct line *l, struct insn *e)
{
	unsigned n = (unsigned)strtoul(l->operand[0] + 1, NULL, 0);
	regset lr = UINT32_C(1) << LR;

	if (n == 7 || (n >= 24 && n <= 31))
		e->reads = e->writes = lr;
	if (n >= 24 && n <= 31 && n % 2)
		e->reads |= UINT32_C(1) << SP;
	if (n == 8 || n == 10 || n == 12 || n == 14) {
		e->writes = UINT32_C(1) << 17;
		e->reads = e->writes | UINT32_C(1) << 16;
	}
	if (n == 40)
		e->reads = e->writes = UINT32_C(1) << 16;
}

/* what no rule says: effects that the text does not show */
static void expect_special(const struct line *l, struct insn *e)
{
	const char *m = l->mnemonic;
	regset lr = UINT32_C(1) << LR, sp = UINT32_C(1) << SP;

	if (!strcmp(m, "bl") || e->kind == INSN_ICALL)
		e->writes |= lr;
	if (e->kind == INSN_RET && *m == 'r' && l->n == 0)
		e->reads |= lr;
	if (!strcmp(m, "retaa") || !strcmp(m, "retab") ||
	    !strcmp(m, "eretaa") || !strcmp(m, "eretab"))
		e->reads |= sp;
	if (e->kind == INSN_SYSCALL) {
		e->reads = 0x1ff | sp;
		e->writes = 1;
		e->mem_read = e->mem_write = 1;
	}
	if (!strcmp(m, "hint"))
		expect_hint(l, e);
	if (!strncmp(m, "smst", 4) ||
	    (!strcmp(m, "msr") && !strncmp(l->operand[0], "svcr", 4)))
		e->vector = true;
	if (!strcmp(m, "msr") && !strcmp(l->operand[0], "nzcv"))
		e->flags_written = NZCV;
	if (!strcmp(m, "mrs") && !strcmp(l->operand[1], "nzcv"))
		e->flags_read = NZCV;
	if (!strcmp(m, "mrs") && !strncmp(l->operand[1], "rndr", 4))
		e->flags_written = NZCV;
	if (!strcmp(m, "ld64b") && l->n)
		e->writes = operand_regs(l->operand[0]) * 0xff;
	if (!strncmp(m, "st64b", 5))
		e->reads |= operand_regs(l->operand[l->n - 2]) * 0xff;
	/* dc zva, gzva */
	if (!strcmp(m, "sys") && l->n >= 4 && !strcmp(l->operand[0], "#3") &&
	    !strcmp(l->operand[1], "C7") && !strcmp(l->operand[2], "C4") &&
	    strchr("14", l->operand[3][1]))
		e->mem_write = 1;
}

/* flags by mnemonic */
static void expect_flags(const struct line *l, unsigned what, struct insn *e)
{
	const char *m = l->mnemonic;

	/* SVE comparisons write a predicate and the flags: cmpeq p0.b, ... */
	if (!strncmp(m, "cmp", 3) && l->operand[0][0] == 'p')
		what |= SET_FLAGS;
	if (!strncmp(m, "adc", 3) || !strncmp(m, "sbc", 3)) {
		if (l->operand[0][0] != 'z') {
			e->flags_read = FLAG_C;
			e->flags_written = m[3] == 's' ? NZCV : 0;
		}
		return;
	}
	if (what & SET_FLAGS)
		e->flags_written = NZCV;
	if (what & GET_FLAGS)
		e->flags_read = NZCV;
	if (what & COND_LAST)
		e->flags_read = cond_flags(l->operand[l->n - 1]);
	if (e->kind == INSN_COND && (what & GET_FLAGS))
		e->flags_read = cond_flags(strchr(m, '.') + 1);
	if (!strcmp(m, "cfinv"))
		e->flags_read = e->flags_written = FLAG_C;
	if (!strncmp(m, "cterm", 5)) {
		e->flags_read = FLAG_C;
		e->flags_written = FLAG_N | FLAG_V;
	}
	if (!strncmp(m, "setf", 4) && !(what & MOVES))
		e->flags_written = FLAG_N | FLAG_Z | FLAG_V;
	if (!strcmp(m, "rmif")) {
		unsigned n = (unsigned)strtoul(l->operand[2] + 1, NULL, 0);

		e->flags_written = (n & 8 ? FLAG_N : 0) | (n & 4 ? FLAG_Z : 0) |
				   (n & 2 ? FLAG_C : 0) | (n & 1 ? FLAG_V : 0);
	}
}

/* registers of operand i, which is not an address */
static void expect_operand(const struct line *l, unsigned i, unsigned what,
			   struct insn *e)
{
	regset regs = operand_regs(l->operand[i]);
	bool dest = i == 0 && !(what & NO_DEST);

	if (what & LOAD)
		dest = true;
	if (what & ATOMIC)
		dest = i == 1;
	if ((what & STORE) && !(what & STATUS))
		dest = false;
	if (what & SWAP)
		dest = i == 0;
	if (what & PAIR_SWAP)
		dest = i < 2;
	if (what & MOVES)
		dest = strchr(l->operand[i], '!') != NULL;
	else if (strchr(l->operand[i], '[')) /* an index into a tile */
		dest = false;
	if (dest)
		e->writes |= regs;
	if (!dest || (what & (RW_DEST | SWAP | PAIR_SWAP | MOVES)))
		e->reads |= regs;
	if ((what & COUNTER) && i == 0 && l->operand[0][0] != 'z')
		e->reads |= regs;
}

/* fill e with what the disassembly says about line l */
static void expect(const struct line *l, struct insn *e)
{
	const struct rule *r = rule_cached(l->mnemonic);
	const char *last = l->n ? l->operand[l->n - 1] : "";
	bool vector_adr = !strcmp(l->mnemonic, "adr") && is_address(last);
	bool addressed = false;

	*e = (struct insn){.addr = l->addr, .len = 4};
	e->kind = r->kind == INSN_BAD ? INSN_SEQ : r->kind;
	for (unsigned i = 0; i < l->n; i++) {
		/* a last operand may be an address, as b0 and d4 are */
		if (i + 1 < l->n || !(r->what & (TARGET | REF)) || vector_adr)
			e->vector |= operand_is_vector(l->operand[i]);
		if (addressed)
			e->reads |= operand_regs(l->operand[i]);
		else if (is_address(l->operand[i]) && !(r->what & MOVES)) {
			expect_address(l, i, e);
			addressed = true;
		} else
			expect_operand(l, i, r->what, e);
	}
	if (r->what & TARGET)
		e->target = strtoull(last, NULL, 16);
	if ((r->what & REF) && !addressed && !vector_adr && *last != '#') {
		e->ref = strtoull(last, NULL, 16);
		e->ref_kind = !strcmp(l->mnemonic, "adr")    ? REF_ADDRESS
			      : !strcmp(l->mnemonic, "adrp") ? REF_PAGE
			      : r->what & LOAD               ? REF_LOAD
							     : REF_HINT;
	}
	e->mem_read = (r->what & (LOAD | ATOMIC | SWAP | PAIR_SWAP)) != 0;
	e->mem_write = (r->what & (STORE | ATOMIC | SWAP | PAIR_SWAP)) != 0;
	expect_flags(l, r->what, e);
	expect_special(l, e);
}

/* the known difference that covers this one, or NULL */
static struct known *known_find(const char *what, const struct line *l)
{
	for (struct known *k = known; k < known + n_known; k++)
		if (!strcmp(k->what, what) && (l->word & k->mask) == k->value &&
		    !fnmatch(k->mnemonic, l->mnemonic, 0))
			return k;
	return NULL;
}

/* count a difference, and show it if it is not known */
static void differ(const char *what, const struct line *l, uint64_t ours,
		   uint64_t theirs)
{
	struct known *k = known_find(what, l);

	if (k) {
		k->count++;
		n_known_hits++;
		return;
	}
	if (n_unexplained++ >= MAX_SHOWN && !verbose)
		return;
	printf("%" PRIx64 ": %08x %s", l->addr, l->word, l->mnemonic);
	for (unsigned i = 0; i < l->n; i++)
		printf("%s %s", i ? "," : "", l->operand[i]);
	printf(": %s is %" PRIx64 ", expected %" PRIx64 "\n", what, ours,
	       theirs);
}

/*
 * the bytes that a load or store of one or two registers moves, by its name;
 * 0 if the name does not tell
 */
static unsigned expect_size(const struct line *l)
{
	const char *m = l->mnemonic;
	size_t len = strlen(m);
	bool pair = !strcmp(m, "ldp") || !strcmp(m, "stp") ||
		    !strcmp(m, "ldnp") || !strcmp(m, "stnp");

	if (!strcmp(m, "ldpsw"))
		return 8;
	if (strncmp(m + 2, "r", 1) && strncmp(m + 2, "ur", 2) &&
	    strncmp(m + 2, "tr", 2) && !pair)
		return 0;
	if (!strncmp(m, "ldra", 4))
		return 8;
	if (m[len - 1] == 'b')
		return 1;
	if (m[len - 1] == 'h')
		return 2;
	if (len > 2 && !strcmp(m + len - 2, "sw"))
		return 4;
	switch (l->operand[0][0]) {
	case 'b':
		return 1;
	case 'h':
		return 2;
	case 'w':
	case 's':
		return pair ? 8 : 4;
	case 'x':
	case 'd':
		return pair ? 16 : 8;
	case 'q':
		return pair ? 32 : 16;
	default:
		return 0;
	}
}

/* compare our reading o of line l with binutils' reading e */
static void compare_fields(const struct line *l, const struct insn *o,
			   const struct insn *e)
{
	unsigned size;

	if (o->kind != e->kind)
		differ("kind", l, o->kind, e->kind);
	if (o->target != e->target)
		differ("target", l, o->target, e->target);
	if (o->ref_kind != e->ref_kind)
		differ("ref_kind", l, o->ref_kind, e->ref_kind);
	if (o->ref != e->ref)
		differ("ref", l, o->ref, e->ref);
	if (o->vector != e->vector)
		differ("vector", l, o->vector, e->vector);
	if (o->reads != e->reads)
		differ("reads", l, o->reads, e->reads);
	if (o->writes != e->writes)
		differ("writes", l, o->writes, e->writes);
	if (o->flags_read != e->flags_read)
		differ("flags_read", l, o->flags_read, e->flags_read);
	if (o->flags_written != e->flags_written)
		differ("flags_written", l, o->flags_written, e->flags_written);
	if ((o->mem_read != 0) != (e->mem_read != 0))
		differ("mem_read", l, o->mem_read, e->mem_read);
	if ((o->mem_write != 0) != (e->mem_write != 0))
		differ("mem_write", l, o->mem_write, e->mem_write);
	size = e->mem_read || e->mem_write ? expect_size(l) : 0;
	if (size && size != (e->mem_read ? o->mem_read : o->mem_write))
		differ("size", l, e->mem_read ? o->mem_read : o->mem_write,
		       size);
}

/* decode the word of line l and compare */
static void compare(const struct line *l)
{
	uint8_t code[4] = {(uint8_t)l->word, (uint8_t)(l->word >> 8),
			   (uint8_t)(l->word >> 16), (uint8_t)(l->word >> 24)};
	struct insn ours, theirs;

	/* what the file itself calls data; what nobody knows is .inst */
	if (!strcmp(l->mnemonic, ".word"))
		return;
	n_compared++;
	isa_a64.decode(code, 4, l->addr, &ours);
	if (l->mnemonic[0] == '.') {
		n_undefined++;
		if (ours.kind != INSN_UNKNOWN)
			differ("extra", l, ours.kind, INSN_UNKNOWN);
		return;
	}
	expect(l, &theirs);
	if (ours.kind == INSN_UNKNOWN)
		differ("missing", l, ours.kind, theirs.kind);
	else
		compare_fields(l, &ours, &theirs);
}

/* read the file of known differences */
static bool known_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char s[512];
	struct known *k;

	if (!f)
		return false;
	while (fgets(s, sizeof(s), f) && n_known < MAX_KNOWN) {
		k = &known[n_known];
		if (*s == '#' || *s == '\n')
			continue;
		if (sscanf(s, "%15s %31s %x/%x %159[^\n]", k->what, k->mnemonic,
			   &k->mask, &k->value, k->reason) == 5)
			n_known++;
		else
			fprintf(stderr, "%s: not understood: %s", path, s);
	}
	fclose(f);
	return true;
}

/*
 * Write `count` random words. In half of them, each of the places where
 * register numbers stand gets one that often is special.
 */
static void write_random(uint64_t count, uint64_t seed)
{
	static const unsigned places[] = {0, 5, 10, 16};
	static const uint32_t special[] = {0, 1, 2, 30, 31, 31, 31, 31};
	uint64_t z;
	uint32_t w;

	while (count--) {
		z = splitmix(&seed);
		w = (uint32_t)z;
		for (unsigned i = 0; i < 4 && z >> 63; i++)
			if (z >> (32 + i) & 1)
				w = (w & ~(UINT32_C(31) << places[i])) |
				    special[z >> (36 + 3 * i) & 7] << places[i];
		fwrite(&w, sizeof(w), 1, stdout);
	}
}

int main(int argc, char **argv)
{
	struct line l;
	char s[1024];

	if (argc == 4 && !strcmp(argv[1], "-r")) {
		write_random(strtoull(argv[2], NULL, 0),
			     strtoull(argv[3], NULL, 0));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "-v")) {
		verbose = true;
		argc--;
		argv++;
	}
	if (argc > 1 && !known_read(argv[1])) {
		fprintf(stderr, "compare-a64: cannot read %s\n", argv[1]);
		return 2;
	}
	while (fgets(s, sizeof(s), stdin))
		if (line_parse(s, &l))
			compare(&l);
	for (struct known *k = known; k < known + n_known; k++)
		if (k->count)
			printf("known %" PRIu64 " %s %s %08x/%08x %s\n",
			       k->count, k->what, k->mnemonic, k->mask,
			       k->value, k->reason);
	printf("compared %" PRIu64 " undefined %" PRIu64 " known %" PRIu64
	       " unexplained %" PRIu64 "\n",
	       n_compared, n_undefined, n_known_hits, n_unexplained);
	return n_unexplained != 0;
}
