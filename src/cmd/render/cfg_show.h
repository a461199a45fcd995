/* cfg_show: the ways to show a cfg. Part of the command `tally cfg`. */
#ifndef CMD_RENDER_CFG_SHOW_H
#define CMD_RENDER_CFG_SHOW_H

#include <stdio.h>

#include "cfg/cfg.h"

/* one screen for the whole file */
void cfg_show_summary(const struct cfg *c, FILE *to);
/* blocks and edges of one procedure */
void cfg_show_procedure(const struct cfg *c, uint32_t p, FILE *to);
/* the contract of doc/cfg-json.md; p == CFG_NONE: all procedures */
void cfg_show_json(const struct cfg *c, uint32_t p, FILE *to);
/* graphviz input for one procedure */
void cfg_show_dot(const struct cfg *c, uint32_t p, FILE *to);

/* how an edge is called in every output */
const char *cfg_edge_name(unsigned kind);
/* calls fn for each block of procedure p, by address within each part */
void cfg_each_block(const struct cfg *c, uint32_t p,
		    void (*fn)(const struct cfg *c, uint32_t k, void *arg),
		    void *arg);
/* how many dispatches have each status */
enum { DISPATCH_STATUSES = DISPATCH_AWAY + 1 };
void cfg_count_dispatches(const struct cfg *c, uint64_t n[DISPATCH_STATUSES]);

#endif
