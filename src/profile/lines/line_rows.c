/*
 * line_rows: the line table of a compilation unit. Where several lines begin
 * at one address the last is meant: the others have no instruction. But if a
 * statement begins there, control passes it all the same: an assignment of
 * which nothing is left, or a condition that the compiler knew.
 */
#include "profile/lines/line_unit.h"

#include <dwarf.h>

static const char *folder_of(struct line_unit *u)
{
	Dwarf_Attribute a;

	return dwarf_attr(&u->die, DW_AT_comp_dir, &a) ? dwarf_formstring(&a)
						       : NULL;
}

const char *line_unit_file(struct line_unit *u, const char *file)
{
	const char *folder;
	char *whole;

	if (!file || file[0] == '/' || !(folder = folder_of(u)))
		return file;
	if (file == u->last_file)
		return u->last_whole;
	whole = mem_alloc(strlen(folder) + strlen(file) + 2);
	strcat(strcat(strcpy(whole, folder), "/"), file);
	u->last_file = file;
	u->last_whole = intern_string(&u->file, whole);
	mem_free(whole);
	return u->last_whole;
}

static struct line_place place_of(struct line_unit *u, Dwarf_Line *line)
{
	const char *file = dwarf_linesrc(line, NULL, NULL);
	struct line_place p = {.file = line_unit_file(u, file)};
	int number = 0, column = 0;
	unsigned discriminator = 0;

	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	dwarf_linediscriminator(line, &discriminator);
	p.line = number > 0 ? (uint32_t)number : 0;
	p.column = column > 0 ? (uint32_t)column : 0;
	line_unit_discriminate(u, discriminator, &p);
	return p;
}

/* `line` begins where the last row does: that one has no instruction */
static void replace_row(struct line_unit *u, const struct line_row *row,
			bool statement)
{
	struct line_row *last = &u->row.at[u->row.n - 1];

	if (last->place.line && last->place.line != row->place.line &&
	    statement) {
		vec_push(&u->passed, last->place);
		last->npassed++;
	}
	last->place = row->place;
}

void line_unit_rows(struct line_unit *u)
{
	Dwarf_Lines *lines;
	bool statement = false; /* the last row began one */
	size_t n;

	u->rows_read = true;
	u->llvm = line_unit_is_llvm(u);
	if (dwarf_getsrclines(&u->die, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct line_row row = {0};
		Dwarf_Addr addr;
		bool end = false;

		if (dwarf_lineaddr(line, &addr) ||
		    dwarf_lineendsequence(line, &end))
			continue;
		row.addr = addr + u->bias;
		row.passed = (uint32_t)u->passed.n;
		if (!end)
			row.place = place_of(u, line);
		/* an end where another sequence begins says nothing */
		if (!u->row.n || u->row.at[u->row.n - 1].addr != row.addr)
			vec_push(&u->row, row);
		else if (!end)
			replace_row(u, &row, statement);
		if (dwarf_linebeginstatement(line, &statement))
			statement = false;
	}
}
