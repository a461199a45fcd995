/*
 * elf_fuzz: a libFuzzer target for all that src/elf reads from a file.
 * How to run it: fuzz/README.md.
 */
#include "elf_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk_image("input", data, size);
	return 0;
}
