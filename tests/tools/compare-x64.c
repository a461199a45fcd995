/*
 * compare-x64: decode() of x86-64 against GNU objdump, instruction by
 * instruction.
 *
 *	objdump -d -w -z FILE | compare-x64 [-k known] [-n limit] [name]
 *
 * Reads objdump's listing, decodes the bytes that it shows, and compares what
 * decode() says with what the AT&T text says: length, kind, target,
 * rip-relative address, constants, registers read and written, memory read and
 * written, flags. What an instruction does beyond its text comes from a table
 * below, written from the manuals and not from Zydis; instructions outside the
 * table (nearly all of them vector ones) have their last operand as
 * destination, all others as sources, and touch neither flags nor registers
 * that are not shown.
 *
 * A difference is a line `field: address: bytes: text: details`. The file
 * `known` explains expected ones: a field, a glob for the bytes, a glob for the
 * text, a reason, with tabs between. Prints a summary; exits 1 if a
 * difference is not explained.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/isa.h"
#include "rules_x64.h"

enum {
	MAX_OPERANDS = 6,
	MAX_BYTES = 24,
	QUEUE = 32,
	MAX_KNOWN = 200,
};

/* an operand of the text */
struct operand {
	enum { OP_REG, OP_IMM, OP_MEM, OP_VECTOR } type;
	int reg;	 /* OP_REG: general register's number */
	unsigned width;	 /* OP_REG: bits */
	regset address;	 /* OP_MEM: registers of the address */
	unsigned n_regs; /* OP_MEM: how many, %riz not counted */
	uint64_t value;	 /* OP_IMM; OP_MEM: the displacement */
};

/* a line of the listing */
struct line {
	uint64_t addr;
	uint8_t bytes[MAX_BYTES];
	unsigned n;
	char text[256];
};

/* a line's text taken apart */
struct text {
	char mnemonic[32];
	bool rep, lock, addr32, indirect;
	struct operand op[MAX_OPERANDS];
	unsigned n;
	bool has_target, has_rip, bad;
	uint64_t target, rip;
};

struct known {
	char *field, *bytes, *text, *reason;
	unsigned long hits;
};

static struct known known[MAX_KNOWN];
static unsigned n_known;
static unsigned long n_lines, n_unexplained, n_explained, print_limit = 40;
static const char *input_name = "";

/* ------------------------------------------------------------------ */
/* differences */

static void hex_bytes(const struct line *l, char *out)
{
	for (unsigned i = 0; i < l->n; i++)
		out += sprintf(out, "%s%02x", i ? " " : "", l->bytes[i]);
}

/* counts a difference, and prints it if nothing explains it */
static void differ(const struct line *l, const char *field, uint64_t want,
		   uint64_t got)
{
	char hex[3 * MAX_BYTES + 1] = "";

	hex_bytes(l, hex);
	for (unsigned i = 0; i < n_known; i++)
		if (fnmatch(known[i].field, field, 0) == 0 &&
		    fnmatch(known[i].bytes, hex, 0) == 0 &&
		    fnmatch(known[i].text, l->text, 0) == 0) {
			known[i].hits++;
			n_explained++;
			return;
		}
	if (n_unexplained++ < print_limit)
		printf("%s: %s:%lx: %s: %s: want %lx got %lx\n", field,
		       input_name, (unsigned long)l->addr, hex, l->text,
		       (unsigned long)want, (unsigned long)got);
}

/* reads the file of explained differences */
static void read_known(const char *path)
{
	FILE *f = fopen(path, "r");
	char buf[512];

	if (!f) {
		perror(path);
		exit(2);
	}
	while (fgets(buf, sizeof buf, f) && n_known < MAX_KNOWN) {
		struct known *k = &known[n_known];
		char *save;

		buf[strcspn(buf, "\n")] = 0;
		if (buf[0] == '#' || !buf[0])
			continue;
		k->field = strdup(strtok_r(buf, "\t", &save));
		k->bytes = strtok_r(NULL, "\t", &save);
		k->text = strtok_r(NULL, "\t", &save);
		k->reason = strtok_r(NULL, "\t", &save);
		if (!k->bytes || !k->text || !k->reason) {
			fprintf(stderr, "%s: four fields wanted\n", path);
			exit(2);
		}
		k->bytes = strdup(k->bytes);
		k->text = strdup(k->text);
		k->reason = strdup(k->reason);
		n_known++;
	}
	fclose(f);
}

/* ------------------------------------------------------------------ */
/* the text */

/* the number and width of a general register's name, without %; or -1 */
static int parse_register(const char *s, size_t n, unsigned *width)
{
	static const char name[][8][5] = {
		{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"},
		{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"},
		{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"},
		{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"},
		{"ah", "ch", "dh", "bh", "?", "?", "?", "?"},
	};
	static const unsigned bits[] = {64, 32, 16, 8, 8};

	if (n > 1 && s[0] == 'r' && isdigit((unsigned char)s[1])) {
		char *end;
		long r = strtol(s + 1, &end, 10);

		*width = end == s + n ? 64
			 : *end == 'd' ? 32
			 : *end == 'w' ? 16
				       : 8;
		return r;
	}
	for (unsigned w = 0; w < 5; w++)
		for (int r = 0; r < 8; r++)
			if (strlen(name[w][r]) == n &&
			    memcmp(name[w][r], s, n) == 0) {
				*width = bits[w];
				return r;
			}
	return -1;
}

/* length of the register name behind a % */
static size_t name_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");
}

/*
 * A memory operand's address registers; whether rip is one. A displacement
 * from 32-bit registers has 32 bits, though the text gives it a sign.
 */
static void parse_memory(const char *s, struct operand *op, struct text *t)
{
	const char *paren = strchr(s, '(');
	const char *p = paren;
	unsigned width;
	bool narrow = false;

	op->type = OP_MEM;
	while (p && (p = strchr(p, '%'))) {
		size_t n = name_length(++p);
		int r = parse_register(p, n, &width);

		if (r >= 0) {
			op->address |= 1u << r;
			op->n_regs++;
			narrow |= width == 32;
		}
		if ((n == 3 && (memcmp(p, "rip", 3) == 0 ||
				memcmp(p, "eip", 3) == 0)))
			t->has_rip = true;
	}
	if (*s == '%')
		s = strchr(s, ':') + 1;
	op->value = strtoull(s, NULL, 0);
	if (narrow)
		op->value = (uint32_t)op->value;
}

/* one operand of the text */
static void parse_operand(char *s, struct text *t)
{
	struct operand *op = &t->op[t->n];
	int r;

	if (t->n == MAX_OPERANDS || *s == '{')
		return; /* rounding modes */
	memset(op, 0, sizeof *op);
	if (*s == '*') {
		t->indirect = true;
		s++;
	}
	t->n++;
	if (*s == '$') {
		op->type = OP_IMM;
		op->value = strtoull(s + 1, NULL, 0);
	} else if (*s == '%' && !strchr(s, ':')) {
		r = parse_register(s + 1, name_length(s + 1), &op->width);
		op->type = r < 0 ? OP_VECTOR : OP_REG;
		op->reg = r;
	} else {
		parse_memory(s, op, t);
	}
}

/* splits operands at commas outside parentheses */
static void parse_operands(char *s, struct text *t)
{
	int depth = 0;
	char *start = s;

	for (;; s++) {
		char c = *s;

		depth += c == '(' ? 1 : c == ')' ? -1 : 0;
		if (c && (c != ',' || depth))
			continue;
		*s = 0;
		if (*start)
			parse_operand(start, t);
		if (!c)
			return;
		start = s + 1;
	}
}

/* whether a word of the text is a prefix, which it notes */
static bool parse_prefix(const char *w, struct text *t)
{
	static const char *const plain[] = {
		"data16", "notrack", "bnd", "cs", "ds", "es", "ss", "fs",
		"gs", "xacquire", "xrelease", "{vex}", "{evex}",
		"{vex3}", "{disp32}", "{load}", "{store}",
	};

	if (strcmp(w, "rep") == 0 || strcmp(w, "repz") == 0 ||
	    strcmp(w, "repnz") == 0)
		return t->rep = true;
	if (strcmp(w, "lock") == 0)
		return t->lock = true;
	if (strcmp(w, "addr32") == 0)
		return t->addr32 = true;
	if (strncmp(w, "rex", 3) == 0)
		return true;
	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(w, plain[i]) == 0)
			return true;
	return false;
}

/* takes the text of an instruction apart */
static void parse_text(const char *src, struct text *t)
{
	char buf[256], *s = buf, *comment, *end;

	memset(t, 0, sizeof *t);
	snprintf(buf, sizeof buf, "%s", src);
	t->bad = strstr(buf, "(bad)") != NULL;
	comment = strstr(buf, "# ");
	if (comment) {
		t->rip = strtoull(comment + 2, NULL, 16);
		*comment = 0;
	}
	end = strchr(buf, '<');
	if (end)
		*end = 0;
	for (end = buf + strlen(buf); end > buf && end[-1] == ' ';)
		*--end = 0;
	for (;;) {
		size_t n = strcspn(s, " ");
		bool last = s[n] == 0;

		s[n] = 0;
		/* ",pt" and ",pn" are branch hints */
		if (!parse_prefix(s, t) || last) {
			snprintf(t->mnemonic, sizeof t->mnemonic, "%.*s",
				 (int)strcspn(s, ","), s);
			if (last)
				return;
			s += n + 1;
			break;
		}
		s += n + 1;
		s += strspn(s, " ");
	}
	s += strspn(s, " ");
	t->target = strtoull(s, &end, 16);
	t->has_target = end != s && (*end == 0 || *end == ' ');
	parse_operands(s, t);
}

/* ------------------------------------------------------------------ */
/* expectations */

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static int compare_names(const void *key, const void *rule)
{
	return strcmp(key, ((const struct rule *)rule)->name);
}

static const struct rule *find_rule(const char *name)
{
	return bsearch(name, rules, sizeof rules / sizeof *rules,
		       sizeof *rules, compare_names);
}

/* flags that the condition in a mnemonic's tail reads, 0 if it is none */
static uint8_t condition_flags(const char *cc)
{
	static const struct {
		const char *cc;
		uint8_t flags;
	} table[] = {
		{"o", V},	{"no", V},	{"b", C},     {"ae", C},
		{"e", Z},	{"ne", Z},	{"be", C | Z}, {"a", C | Z},
		{"s", N},	{"ns", N},	{"p", P},     {"np", P},
		{"l", N | V},	{"ge", N | V},	{"le", N | V | Z},
		{"g", N | V | Z},
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(table[i].cc, cc) == 0)
			return table[i].flags;
	return 0;
}

/* movzbl, movslq, ... and movabs, movbe, movnti are all mov */
static bool is_plain_mov(const char *m)
{
	static const char *const name[] = {
		"movabs", "movbe", "movnti", "movnti", "movslq", "movsbl",
		"movsbw", "movsbq", "movswl", "movswq", "movzbl", "movzbw",
		"movzbq", "movzwl", "movzwq", "movsxd", "movzww", "movsww",
		"movsll", "movslw", "movdiri",
	};

	for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
		if (strcmp(m, name[i]) == 0)
			return true;
	return false;
}

/* the rule for a mnemonic, made in *made if it is not in the table */
static const struct rule *rule_for(const struct text *t, struct rule *made)
{
	const char *m = t->mnemonic;
	const struct rule *r = find_rule(m);
	size_t n = strlen(m);
	char cut[sizeof t->mnemonic];

	if (r)
		return r;
	*made = other_rule;
	if (is_plain_mov(m))
		return made;
	if (starts_with(m, "cmov") && (made->flags_read =
				       condition_flags(m + 4))) {
		made->role = KEEPS;
		return made;
	}
	if (starts_with(m, "set") &&
	    (made->flags_read = condition_flags(m + 3)))
		return made;
	if (n > 1 && strchr("bwlqst", m[n - 1])) {
		memcpy(cut, m, n);
		cut[n - 1] = 0;
		r = find_rule(cut);
		if (r)
			return r;
	}
	return made;
}

/* what decode() ought to say */
struct want {
	regset reads, writes;
	bool mem_read, mem_write;
};

/* adds an operand that is read, written, or both */
static void want_operand(struct want *w, const struct operand *op, bool read,
			 bool write)
{
	regset set = op->type == OP_REG ? 1u << op->reg : 0;

	if (op->type == OP_MEM) {
		w->reads |= op->address;
		w->mem_read |= read;
		w->mem_write |= write;
	}
	if (read || (write && op->width < 32))
		w->reads |= set;
	if (write)
		w->writes |= set;
}

/* one-operand imul, mul, div: rax, and rdx unless a byte is multiplied */
static void want_wide(struct want *w, unsigned width, bool divides)
{
	w->reads |= AX;
	w->writes |= AX;
	if (width == 8)
		return;
	w->writes |= DX;
	if (divides || width == 16)
		w->reads |= DX;
}

/* bits of an operand in memory, by the mnemonic's suffix */
static unsigned suffix_width(const char *m)
{
	switch (m[strlen(m) - 1]) {
	case 'b':
		return 8;
	case 'w':
		return 16;
	case 'q':
		return 64;
	default:
		return 32;
	}
}

/* bits of the operand of mul and its kin */
static unsigned operand_width(const struct text *t)
{
	return t->op[0].type == OP_REG ? t->op[0].width
				       : suffix_width(t->mnemonic);
}

static bool is_multiply(const char *m)
{
	return starts_with(m, "mul") && !starts_with(m, "mulx") &&
	       !starts_with(m, "muls") && !starts_with(m, "mulp");
}

/* integer divisions, not divps */
static bool is_divide(const char *m)
{
	static const char *const name[] = {"div", "divb", "divw", "divl",
					   "divq", "idiv", "idivb", "idivw",
					   "idivl", "idivq"};

	for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
		if (strcmp(m, name[i]) == 0)
			return true;
	return false;
}

/* registers and memory that the text says are used */
static void expect_effects(const struct text *t, const struct rule *r,
			   struct want *w)
{
	unsigned last = t->n - 1;

	memset(w, 0, sizeof *w);
	w->reads = r->reads;
	w->writes = r->writes;
	for (unsigned i = 0; i < t->n && r->role != IGNORES; i++) {
		bool dst = i == last;

		switch (r->role) {
		case WRITES:
			want_operand(w, &t->op[i], !dst, dst);
			break;
		case UPDATES:
		case KEEPS:
			want_operand(w, &t->op[i], true, dst);
			break;
		case MULTIPLY:
			want_operand(w, &t->op[i], !dst || t->n < 3,
				     dst && t->n > 1);
			break;
		case SWAPS:
			want_operand(w, &t->op[i], true, true);
			break;
		case ADDRESS:
		case HINTS:
			want_operand(w, &t->op[i], false,
				     dst && r->role == ADDRESS);
			break;
		case TWO:
			want_operand(w, &t->op[i], i + 2 < t->n,
				     i + 2 >= t->n);
			break;
		default:
			want_operand(w, &t->op[i], true, false);
		}
	}
	if (t->n == 1 && (is_multiply(t->mnemonic) ||
			  is_divide(t->mnemonic) || r->role == MULTIPLY)) {
		w->reads &= ~(uint32_t)DX |
			    (t->op[0].type == OP_REG ? 1u << t->op[0].reg
						     : t->op[0].address);
		w->writes = 0;
		want_wide(w, operand_width(t), is_divide(t->mnemonic));
	}
}

/* xor and sub of a register with itself do not depend on it */
static bool is_zeroing(const struct text *t, const struct rule *r)
{
	return (strcmp(r->name, "xor") == 0 || strcmp(r->name, "sub") == 0) &&
	       t->n == 2 && t->op[0].type == OP_REG &&
	       t->op[1].type == OP_REG && t->op[0].reg == t->op[1].reg &&
	       t->op[1].width >= 32;
}

/* stack instructions also access what rsp points to */
static void expect_stack(const struct text *t, struct want *w)
{
	const char *m = t->mnemonic;

	if (starts_with(m, "push"))
		w->mem_write = true;
	if ((starts_with(m, "pop") && !starts_with(m, "popcnt")) ||
	    starts_with(m, "leave"))
		w->mem_read = true;
	if (starts_with(m, "xlat"))
		w->mem_read = true;
}

/* x87 stores are the ones with "st" in the name */
static bool is_x87_load(const struct text *t)
{
	const char *m = t->mnemonic;

	if (m[0] != 'f' || starts_with(m, "fx"))
		return false;
	return !starts_with(m, "fst") && !starts_with(m, "fnst") &&
	       !starts_with(m, "fist") && !starts_with(m, "fbst") &&
	       !starts_with(m, "fnsa") && !starts_with(m, "fsave");
}

/* what a string instruction does, by its operands; false: it is none */
static bool expect_string(const struct text *t, const struct line *l,
			  struct want *w)
{
	static const struct {
		const char *name;
		regset reads, writes;
		bool mem_read, mem_write;
	} table[] = {
		{"movs", SI | DI, SI | DI, true, true},
		{"cmps", SI | DI, SI | DI, true, false},
		{"stos", DI | AX, DI, false, true},
		{"scas", DI | AX, DI, true, false},
		{"lods", SI, SI | AX, true, false},
		{"outs", SI | DX, SI, true, false},
		{"ins", DI | DX, DI, false, true},
	};

	if (!strstr(l->text, "%es:(%") && !strstr(l->text, "%ds:(%") &&
	    !starts_with(t->mnemonic, "lods") &&
	    !starts_with(t->mnemonic, "outs"))
		return false;
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		if (!starts_with(t->mnemonic, table[i].name))
			continue;
		w->reads = table[i].reads;
		w->writes = table[i].writes;
		w->mem_read = table[i].mem_read;
		w->mem_write = table[i].mem_write;
		if (t->rep) {
			w->reads |= CX | w->writes;
			w->writes |= CX;
		} else if (t->n && t->op[t->n - 1].type == OP_REG &&
			   t->op[t->n - 1].width < 32) {
			w->reads |= w->writes;
		}
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ */
/* comparisons */

static bool is_conditional(const char *m)
{
	return (m[0] == 'j' && condition_flags(m + 1)) ||
	       starts_with(m, "loop") || strcmp(m, "jrcxz") == 0 ||
	       strcmp(m, "jecxz") == 0 || strcmp(m, "xbegin") == 0;
}

/* instructions for hypervisors and enclaves, VIA's padlock */
static bool is_unknown(const char *m)
{
	static const char *const name[] = {
		"vmcall", "vmlaunch", "vmresume", "vmxoff", "vmfunc",
		"vmrun", "vmmcall", "vmload", "vmsave", "stgi", "clgi",
		"skinit", "invlpga", "encls", "enclu", "enclv", "pconfig",
		"getsec", "montmul", "tdcall", "seamcall", "seamret",
		"seamops", "vmgexit", "invlpgb",
	};

	for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
		if (strcmp(m, name[i]) == 0)
			return true;
	return starts_with(m, "xcrypt") || starts_with(m, "xstore") ||
	       starts_with(m, "xsha");
}

/* the kind that the mnemonic says */
static enum insn_kind expect_kind(const struct text *t)
{
	const char *m = t->mnemonic;

	if (is_unknown(m))
		return INSN_UNKNOWN;
	if (is_conditional(m))
		return INSN_COND;
	if (starts_with(m, "jmp"))
		return t->indirect ? INSN_IJUMP : INSN_JUMP;
	if (starts_with(m, "ljmp"))
		return INSN_IJUMP;
	if (starts_with(m, "call"))
		return t->indirect ? INSN_ICALL : INSN_CALL;
	if (starts_with(m, "lcall"))
		return INSN_ICALL;
	if (starts_with(m, "ret") || starts_with(m, "lret") ||
	    starts_with(m, "iret") || starts_with(m, "sysret") ||
	    starts_with(m, "sysexit") || strcmp(m, "rsm") == 0 ||
	    strcmp(m, "uiret") == 0)
		return INSN_RET;
	if (strcmp(m, "syscall") == 0 || strcmp(m, "sysenter") == 0)
		return INSN_SYSCALL;
	if (strcmp(m, "int") == 0)
		return t->op[0].value == 0x80 ? INSN_SYSCALL : INSN_TRAP;
	if (strcmp(m, "int3") == 0 || strcmp(m, "int1") == 0 ||
	    strcmp(m, "icebp") == 0 || strcmp(m, "hlt") == 0 ||
	    strcmp(m, "ud2") == 0 || starts_with(m, "ud0") ||
	    starts_with(m, "ud1"))
		return INSN_TRAP;
	return INSN_SEQ;
}

/* lea 0x0(%rsi,%riz,1),%rsi and its like */
static bool is_idle_lea(const struct text *t, const struct line *l)
{
	return strcmp(t->mnemonic, "lea") == 0 && t->n == 2 &&
	       t->op[0].value == 0 && t->op[0].n_regs == 1 &&
	       t->op[1].width == 64 && !strstr(l->text, "(,") &&
	       t->op[0].address == 1u << t->op[1].reg && !t->has_rip &&
	       !t->addr32;
}

/* xchg %ax,%ax in one of the encodings of nop */
static bool is_short_nop(const struct text *t, const struct line *l)
{
	return strcmp(t->mnemonic, "xchg") == 0 &&
	       strstr(l->text, "%ax,%ax") && l->bytes[l->n - 1] == 0x90;
}

static bool is_pad(const struct text *t, const struct line *l)
{
	return strcmp(t->mnemonic, "nop") == 0 ||
	       strcmp(t->mnemonic, "nopw") == 0 ||
	       strcmp(t->mnemonic, "nopl") == 0 ||
	       strcmp(t->mnemonic, "nopq") == 0 ||
	       strcmp(t->mnemonic, "int3") == 0 ||
	       is_short_nop(t, l) || is_idle_lea(t, l);
}

/* target, reference, constant, padding */
static void compare_addresses(const struct line *l, const struct text *t,
			      const struct insn *d)
{
	bool direct = d->kind == INSN_JUMP || d->kind == INSN_COND ||
		      d->kind == INSN_CALL;
	bool seen = !d->has_imm;

	if (direct && (!t->has_target || d->target != t->target))
		differ(l, "target", t->target, d->target);
	if ((d->ref_kind != REF_NONE) != t->has_rip)
		differ(l, "rip", t->has_rip, d->ref_kind);
	else if (t->has_rip && d->ref != t->rip)
		differ(l, "ref", t->rip, d->ref);
	for (unsigned i = 0; i < t->n; i++)
		if (t->op[i].type != OP_REG)
			seen |= t->op[i].value == d->imm;
	if (!seen)
		differ(l, "imm", 0, d->imm);
	if (d->pad != is_pad(t, l))
		differ(l, "pad", is_pad(t, l), d->pad);
}

/* whether a shift's count may be nothing, so that flags are kept */
static bool may_shift_nothing(const struct text *t, const struct rule *r)
{
	static const char *const name[] = {"rcl", "rcr", "rol", "ror", "sal",
					   "sar", "shl", "shld", "shr",
					   "shrd"};
	const struct operand *dst;
	uint64_t count = t->op[0].value;
	unsigned width, i;

	for (i = 0; i < 10 && strcmp(name[i], r->name) != 0; i++)
		;
	if (i == 10 || t->n < 2)
		return false;
	if (t->op[0].type == OP_REG)
		return true;
	dst = &t->op[t->n - 1];
	width = dst->type == OP_REG ? dst->width : suffix_width(t->mnemonic);
	count &= width == 64 ? 63 : 31;
	return count == 0 || (i < 2 && count % (width + 1) == 0);
}

/* flags read and written */
static void compare_flags(const struct line *l, const struct text *t,
			  const struct rule *r, const struct insn *d,
			  bool string)
{
	uint8_t reads = r->flags_read, must = r->must_write;
	uint8_t may = r->may_write;

	if (string) {
		bool compares = starts_with(t->mnemonic, "cmps") ||
				starts_with(t->mnemonic, "scas");

		reads = D | (compares && t->rep ? Z : 0);
		must = may = compares && !t->rep ? SIX : 0;
	} else if (may_shift_nothing(t, r)) {
		must = 0;
	}
	if (d->flags_read != reads)
		differ(l, "flags-read", reads, d->flags_read);
	if (must & ~d->flags_written)
		differ(l, "flags-written", must, d->flags_written);
	if (d->flags_written & ~may)
		differ(l, "flags-kept", may, d->flags_written);
}

/* registers and memory of ordinary instructions */
static void compare_effects(const struct line *l, const struct text *t,
			    const struct rule *r, const struct insn *d)
{
	struct want w;
	bool string = expect_string(t, l, &w);

	compare_flags(l, t, r, d, string);
	if (r->role == UNCHECKED || is_short_nop(t, l))
		return;
	if (!string) {
		expect_effects(t, r, &w);
		expect_stack(t, &w);
		if (is_zeroing(t, r))
			w.reads = 0;
		if (is_x87_load(t) && w.mem_write) {
			w.mem_write = false;
			w.mem_read = true;
		}
	}
	if (d->reads != w.reads)
		differ(l, "reads", w.reads, d->reads);
	if (d->writes != w.writes)
		differ(l, "writes", w.writes, d->writes);
	if ((d->mem_read != 0) != w.mem_read)
		differ(l, "mem-read", w.mem_read, d->mem_read);
	if ((d->mem_write != 0) != w.mem_write)
		differ(l, "mem-write", w.mem_write, d->mem_write);
	if ((d->mem_class == MEM_ATOMIC) !=
	    (t->lock || (w.mem_write && starts_with(t->mnemonic, "xchg"))))
		differ(l, "atomic", t->lock, d->mem_class);
}

/* registers and flags of instructions that leave the sequence */
static void compare_leaving(const struct line *l, const struct text *t,
			    const struct insn *d)
{
	struct want w = {0};
	uint8_t flags = 0;

	for (unsigned i = 0; t->indirect && i < t->n; i++)
		want_operand(&w, &t->op[i], true, false);
	switch (d->kind) {
	case INSN_CALL:
	case INSN_ICALL:
		w.reads |= SP;
		w.writes |= SP;
		break;
	case INSN_SYSCALL:
		if (strcmp(t->mnemonic, "syscall") != 0)
			return;
		w.reads = SYSARGS;
		w.writes = AX | CX | R11;
		flags = FLAG_ALL;
		break;
	case INSN_COND:
		flags = condition_flags(t->mnemonic + 1);
		if (starts_with(t->mnemonic, "loop")) {
			w.reads = w.writes = CX;
			flags = strchr(t->mnemonic, 'e') ? Z : 0;
		} else if (strchr(t->mnemonic, 'c')) {
			w.reads = CX;
		} else if (t->mnemonic[0] == 'x') {
			w.reads = w.writes = AX;
			flags = 0;
		}
		break;
	case INSN_RET:
		if (!starts_with(t->mnemonic, "ret"))
			return;
		w.reads = w.writes = SP;
		break;
	default:
		break;
	}
	if (d->reads != w.reads)
		differ(l, "reads", w.reads, d->reads);
	if (d->writes != w.writes)
		differ(l, "writes", w.writes, d->writes);
	if (d->flags_read != flags)
		differ(l, "flags-read", flags, d->flags_read);
	if (d->flags_written)
		differ(l, "flags-kept", 0, d->flags_written);
}

/* compares one line; code holds the bytes from there on */
static void compare_line(const struct line *l, const uint8_t *code,
			 size_t avail)
{
	struct insn d, s;
	struct text t;
	struct rule made;
	enum insn_kind kind;

	n_lines++;
	isa_x64.decode(code, avail, l->addr, &d);
	isa_x64.scan(code, avail, l->addr, &s);
	if (s.kind != d.kind || s.len != d.len || s.target != d.target ||
	    s.ref != d.ref || s.ref_kind != d.ref_kind || s.imm != d.imm)
		differ(l, "scan", d.kind, s.kind);
	parse_text(l->text, &t);
	if (t.bad || d.kind == INSN_BAD) {
		if (t.bad != (d.kind == INSN_BAD))
			differ(l, "bad", t.bad, d.kind);
		return;
	}
	if (d.len != l->n) {
		differ(l, "length", l->n, d.len);
		return;
	}
	kind = expect_kind(&t);
	if (d.kind != kind) {
		differ(l, "kind", kind, d.kind);
		return;
	}
	compare_addresses(l, &t, &d);
	if (kind == INSN_SEQ)
		compare_effects(l, &t, rule_for(&t, &made), &d);
	else if (kind != INSN_TRAP && kind != INSN_UNKNOWN)
		compare_leaving(l, &t, &d);
}

/* ------------------------------------------------------------------ */
/* the listing */

static struct line queue[QUEUE];
static unsigned q_head, q_count;

/* compares the oldest line, with the bytes of those behind it */
static void take_line(void)
{
	uint8_t code[QUEUE * MAX_BYTES];
	size_t n = 0;

	for (unsigned i = 0; i < q_count && n < 2 * MAX_BYTES; i++) {
		const struct line *l = &queue[(q_head + i) % QUEUE];

		memcpy(code + n, l->bytes, l->n);
		n += l->n;
	}
	compare_line(&queue[q_head], code, n);
	q_head = (q_head + 1) % QUEUE;
	q_count--;
}

/* reads a line of the listing; false: it shows no instruction */
static bool parse_line(char *buf, struct line *l)
{
	char *s, *end;

	l->addr = strtoull(buf, &end, 16);
	if (end == buf || end[0] != ':' || end[1] != '\t')
		return false;
	s = end + 2;
	for (l->n = 0; l->n < MAX_BYTES && isxdigit((unsigned char)s[0]) &&
		       isxdigit((unsigned char)s[1]);
	     l->n++, s += 3)
		l->bytes[l->n] = strtoul(s, NULL, 16);
	s = strchr(s, '\t');
	if (!s || !l->n)
		return false;
	snprintf(l->text, sizeof l->text, "%.*s", (int)strcspn(s + 1, "\n"),
		 s + 1);
	return true;
}

/* compares all lines of the listing on stdin */
static void compare_listing(void)
{
	enum { AHEAD = 15 }; /* lines, so that 15 bytes follow each */
	char *buf = NULL;
	size_t size = 0;
	uint64_t next = 0;
	struct line l;

	while (getline(&buf, &size, stdin) > 0) {
		if (!parse_line(buf, &l))
			continue;
		while (q_count && (q_count > AHEAD || l.addr != next))
			take_line();
		queue[(q_head + q_count++) % QUEUE] = l;
		next = l.addr + l.n;
	}
	while (q_count)
		take_line();
	free(buf);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "k:n:")) != -1) {
		if (c == 'k')
			read_known(optarg);
		else if (c == 'n')
			print_limit = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind < argc)
		input_name = argv[optind];
	compare_listing();
	for (unsigned i = 0; i < n_known; i++)
		if (known[i].hits)
			printf("known\t%lu\t%s\t%s\n", known[i].hits,
			       known[i].field, known[i].reason);
	printf("total\t%lu\t%lu\t%lu\t%s\n", n_lines, n_explained,
	       n_unexplained, input_name);
	return n_unexplained != 0;
}
