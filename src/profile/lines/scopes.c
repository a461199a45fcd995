/*
 * scopes: the functions of a compilation unit, and the calls inlined into
 * them, as intervals that lie within each other.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "profile/lines/line_unit.h"

enum {
	SCOPES_DEEP = 200,         /* more is a broken file */
	AT_DISCRIMINATOR = 0x2136, /* of a call: LLVM's, not in dwarf.h */
};

/* its linkage name, which tells overloaded functions apart, or its name */
static const char *function_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return dwarf_formstring(&a);
	return dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a)
							 : NULL;
}

/* an attribute of the entry, or of the function that it is a copy of */
static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word n;

	if (!dwarf_attr_integrate(die, name, &a) || dwarf_formudata(&a, &n) ||
	    n > UINT32_MAX)
		return 0;
	return (uint32_t)n;
}

/* compilers mark lambdas as artificial, too, but their code is in the source */
static bool is_artificial(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;
	bool is = false;

	if (dwarf_attr_integrate(die, DW_AT_name, &a))
		name = dwarf_formstring(&a);
	return dwarf_attr_integrate(die, DW_AT_artificial, &a) &&
	       !dwarf_formflag(&a, &is) && is &&
	       !(name && !strcmp(name, "operator()"));
}

static struct line_place call_of(struct line_unit *u, Dwarf_Die *die)
{
	uint32_t file = number_of(die, DW_AT_call_file);
	struct line_place p = {.line = number_of(die, DW_AT_call_line),
			       .column = number_of(die, DW_AT_call_column)};
	Dwarf_Files *files;
	size_t n;

	line_unit_discriminate(u, number_of(die, AT_DISCRIMINATOR), &p);
	if (!dwarf_getsrcfiles(&u->die, &files, &n) && file < n)
		p.file = line_unit_file(u,
					dwarf_filesrc(files, file, NULL, NULL));
	return p;
}

static void add_scope(struct line_unit *u, Dwarf_Die *die, bool inlined)
{
	struct scope s = {.function = function_of(die),
			  .outer = SCOPE_NONE,
			  .line = number_of(die, DW_AT_decl_line),
			  .artificial = is_artificial(die)};
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	s.copy = ++u->ncopy;
	if (inlined)
		s.call = call_of(u, die);
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		s.low = low + u->bias;
		s.high = high + u->bias;
		if (!low || low >= high)
			continue;
		/* compilers write the interval with the entry first */
		if (!s.entry)
			s.entry = s.low;
		vec_push(&u->scope, s);
	}
}

static bool may_hold_scopes(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
	       tag == DW_TAG_module || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type;
}

static void walk(struct line_unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == SCOPES_DEEP || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (!may_hold_scopes(tag))
			continue;
		if (tag == DW_TAG_subprogram ||
		    tag == DW_TAG_inlined_subroutine)
			add_scope(u, &die, tag == DW_TAG_inlined_subroutine);
		walk(u, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* outer ones first; what is inlined is within what it is inlined into */
static int by_nesting(const void *a, const void *b)
{
	const struct scope *p = a, *q = b;

	if (p->low != q->low)
		return p->low < q->low ? -1 : 1;
	if (p->high != q->high)
		return p->high > q->high ? -1 : 1;
	/* the walk came to outer ones first */
	return p->copy < q->copy ? -1 : p->copy > q->copy;
}

/* requires: sorted. Finds which scope encloses which; the stack of open ones
   is linked by `outer` */
static void nest(struct line_unit *u)
{
	uint32_t top = SCOPE_NONE;

	for (uint32_t i = 0; i < u->scope.n; i++) {
		struct scope *s = &u->scope.at[i];

		while (top != SCOPE_NONE && u->scope.at[top].high <= s->low)
			top = u->scope.at[top].outer;
		s->outer = top;
		top = i;
	}
}

void line_unit_scopes(struct line_unit *u)
{
	u->scopes_read = true;
	u->llvm = line_unit_is_llvm(u);
	walk(u, &u->die, 0);
	if (u->scope.n)
		qsort(u->scope.at, u->scope.n, sizeof *u->scope.at, by_nesting);
	nest(u);
}
