/* isa: finding the machine that an ELF file was made for. */
#include "isa/isa.h"

const struct isa *isa_for_elf(uint16_t e_machine)
{
	if (e_machine == isa_a64.elf_machine)
		return &isa_a64;
	if (e_machine == isa_x64.elf_machine)
		return &isa_x64;
	return NULL;
}
