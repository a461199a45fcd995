/*
 * survey_int: the steps of a survey that are files of their own.
 */
#ifndef REWRITE_SURVEY_SURVEY_INT_H
#define REWRITE_SURVEY_SURVEY_INT_H

#include "rewrite/survey/survey.h"

/* survey.c: as survey_make(), for a caller that inserts nothing */
void survey_make_bare(struct survey *s, const struct cfg *c);

/* read_code.c: fills s->marks and s->read, s->doubt as far as code says; and,
   by part, why its code cannot move (NULL: it can) */
void code_read(struct survey *s, const char **why);

/* restart.c: sets why[] of parts with restartable sequences: they stay */
void restart_mark(const struct cfg *c, const char **why);

/* choose.c: fills s->moves.moved, and s->in_place with what stays */
void choose_parts(struct survey *s);

/* leaves more parts in place, those for which stays() is true, and says why;
   true if there were any */
bool choose_leave(struct survey *s,
		  bool (*stays)(void *ctx, const struct moved *m), void *ctx,
		  const char *reason);

/* code_heuristic.c: leaves parts in place that may not be code; requires
 * s->live */
void code_heuristic_leave(struct survey *s);

/* far.c: leaves more parts in place, if the file is very large */
void far_leave(struct survey *s);

/* indirect_entry.c: the old addresses at which control may arrive */
void indirect_entry_find(struct survey *s);
/* control may arrive at the old address, of an instruction that moved */
bool indirect_entry_expected(const struct survey *s, uint64_t old);
/* a call that moved returns to the old address */
bool indirect_entry_by_return(const struct survey *s, uint64_t old);
/* a jump that is not understood may lead there, even into a block */
bool indirect_entry_open(const struct survey *s, uint64_t old);

/*
 * indirect_entry.c: marks calls that are made in their old place; not those of
 * which is_taken() says that their bytes are needed
 */
void home_mark(struct survey *s,
	       bool (*is_taken)(const void *ctx, uint64_t start, uint64_t end),
	       const void *ctx);

/* trampolines.c: adds to s->doubt what data says */
void trampolines_find_spared(struct survey *s);
/*
 * trampolines.c: fills s->trampoline, if the machine needs any. False: some
 * parts have to stay, and do now; what depends on that has to be done again.
 */
bool trampolines_find(struct survey *s);

#endif
