/*
 * cfg_fuzz: a libFuzzer target for all of `tally cfg`, with every output.
 * How to run it: fuzz/README.md.
 */
#include "cfg_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	walk_cfg("input", data, size, nowhere);
	return 0;
}
