/*
 * line_rows: the line table of a compilation unit. Where several lines begin
 * at one address the last is meant: the others have no instruction.
 */
#include "source/line_unit.h"

static struct line_place place_of(Dwarf_Line *line)
{
	int number = 0, column = 0;
	struct line_place p = {.file = dwarf_linesrc(line, NULL, NULL)};

	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	p.line = number > 0 ? (uint32_t)number : 0;
	p.column = column > 0 ? (uint32_t)column : 0;
	return p;
}

void line_unit_rows(struct line_unit *u)
{
	Dwarf_Lines *lines;
	size_t n;

	u->rows_read = true;
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
		if (!end)
			row.place = place_of(line);
		/* an end where another sequence begins says nothing */
		if (u->row.n && u->row.at[u->row.n - 1].addr == row.addr) {
			if (!end)
				u->row.at[u->row.n - 1] = row;
		} else {
			vec_push(&u->row, row);
		}
	}
}
