/*
 * by_address: the blocks of an image as they lie in it. Procedures may lie
 * inside each other, and the map has their blocks one procedure after the
 * other.
 */
#ifndef REPORT_BY_ADDRESS_H
#define REPORT_BY_ADDRESS_H

#include "count/map.h"

/* numbers of all blocks of the map, in the order of addresses; free it */
uint32_t *blocks_by_address(const struct map *m);

#endif
