/*
 * list-effects: what decode() says of instructions that others may know, too.
 *
 *	list-effects aarch64|x86-64 <HEX >LIST
 *
 * Each line of HEX has the bytes of an instruction, or more. LIST has
 *
 *	hex kind read written class fp packed
 *
 * for each, the bytes cut to its length, all numbers (isa.h), -1 for
 * MEM_SIZE_UNKNOWN. What is no instruction has no line.
 */
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"

enum { LINE = 80 };

static size_t read_bytes(const char *line, uint8_t *bytes)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(line, "%2x", &byte) == 1; line += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

static int size_of(uint16_t bytes)
{
	return bytes == MEM_SIZE_UNKNOWN ? -1 : bytes;
}

static void list(const struct isa *isa, const uint8_t *bytes, size_t n)
{
	struct insn i;

	isa->decode(bytes, n, 0x10000, &i);
	if (!i.len)
		return;
	for (unsigned at = 0; at < i.len; at++)
		printf("%02x", bytes[at]);
	printf(" %d %d %d %d %d %d\n", i.kind, size_of(i.mem_read),
	       size_of(i.mem_write), i.mem_class, i.fp, i.packed);
}

int main(int argc, char **argv)
{
	const struct isa *isa = argc < 2 ? NULL :
				!strcmp(argv[1], isa_a64.name) ? &isa_a64 :
				!strcmp(argv[1], isa_x64.name) ? &isa_x64 :
								 NULL;
	uint8_t bytes[LINE];
	char line[LINE];

	if (!isa) {
		fprintf(stderr, "list-effects aarch64|x86-64 <HEX >LIST\n");
		return 2;
	}
	while (fgets(line, sizeof line, stdin))
		list(isa, bytes, read_bytes(line, bytes));
	return 0;
}
