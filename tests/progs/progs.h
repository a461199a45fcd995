/* progs: what the programs here share. */
#ifndef PROGS_H
#define PROGS_H

#ifdef __cplusplus
extern "C" {
#endif
/* something that the compiler cannot look into */
int use(int);
int switch_all(int, char **);
int goto_all(int, char **);
int all_tail(int, char **);
int all_noret(int, char **);
int misc_all(int, char **);
int throw_all(int, char **);
int multi_entry(int), multi_second(int), multi_pool(int), multi_lock(int *);
int big_code(int);
#ifdef __cplusplus
}
#endif

/* m(i), m(i+1), .. m(i+7) */
#define EACH(m, i) \
	m((i)) m((i) + 1) m((i) + 2) m((i) + 3) \
	m((i) + 4) m((i) + 5) m((i) + 6) m((i) + 7)

#endif
