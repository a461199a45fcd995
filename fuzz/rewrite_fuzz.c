/*
 * rewrite_fuzz: a libFuzzer target for the whole rewriter, with traps and with
 * code inserted everywhere. How to run it: fuzz/README.md.
 */
#include "rewrite_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk_rewrite("input", data, size);
	return 0;
}
