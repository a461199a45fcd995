/*
 * pprof_image: an image in a profile for pprof: where its code lies, and its
 * places with their functions, lines and inlined calls.
 */
#ifndef EXPORT_PPROF_IMAGE_H
#define EXPORT_PPROF_IMAGE_H

#include "export/pprof.h"
#include "profile/lines.h"
#include "profile/segments.h"

struct pprof_image {
	struct pprof *out;
	bool has_lines;		  /* the file has debug information */
	struct segments segments; /* none: its file is not there */
	uint64_t mapping;	  /* of the first segment */
};

/* requires: all but the mapping is given. A mapping for each part of the file
   with code, or one without addresses */
void pprof_image_begin(struct pprof_image *x, const char *path,
		       const uint8_t *build_id, uint32_t build_id_len);
/* the mapping that the address is in */
uint64_t pprof_image_mapping(const struct pprof_image *x, uint64_t addr);
/*
 * A function of debug information; symbol: what it is called instead, which
 * stays where it is, or NULL. These return the number to call it by.
 */
uint64_t pprof_image_function(struct pprof_image *x,
			      const struct line_frame *f, const char *symbol);
/*
 * With frames at the address, n of them, which are given; symbol: of the
 * procedure that it is in.
 */
uint64_t pprof_image_location(struct pprof_image *x, uint64_t addr,
			      const struct line_frame *f, unsigned n,
			      const char *symbol);

#endif
