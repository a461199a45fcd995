#include "rewrite/unwind_out.h"
const char *unwind_can_move(const struct image *im, const struct fde *f){(void)im;(void)f;return NULL;}
int unwind_out_make(struct unwind_out *out, uint64_t addr,const struct image *im, const struct unwind *u,const struct moves *m, struct err *e){(void)out;(void)addr;(void)im;(void)u;(void)m;(void)e;return 0;}
void unwind_out_free(struct unwind_out *out){vec_free(&out->bytes);}
