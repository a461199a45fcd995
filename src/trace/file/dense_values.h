/*
 * dense_values: values of registers of a thread, coded by where in the program
 * each was written, its site (Burtscher, "VPC3", 2004: each site has predictors
 * of its own, and what is coded is which of them was right).
 *
 * Sites are numbers, in the order in which they come first; which is next is
 * coded as well, by those before: that is little beside the values, and so a
 * chunk is read without the program's graphs.
 */
#ifndef TRACE_FILE_DENSE_VALUES_H
#define TRACE_FILE_DENSE_VALUES_H

#include "base/bit_coder.h"

/* of values, one after the other: the site, by any number; how many bytes, 1,
   2, 4 or 8, and as many each time */
struct value_site {
	uint64_t site;
	uint8_t size;
};
struct value_sites {
	const struct value_site *at;
	size_t n;
};

/*
 * Codes n bytes of values: those of the sites, which are as many, to what the
 * coder writes; or, with NULL, those that it reads. False: these are broken, or
 * there are too many sites.
 */
bool dense_values_code(struct bit_coder *c, uint8_t *bytes, size_t n,
		       const struct value_sites *sites);

#endif
