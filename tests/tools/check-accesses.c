/*
 * check-accesses: do decode() and isa->accesses() agree on whole files?
 *
 *	check-accesses FILE...
 *
 * Takes every instruction of the executable segments of programs and libraries
 * for both machines, one after the other, and complains if its accesses break
 * a promise (tests/lib/access_rules.h). Then says how many files and
 * instructions there were, and how many accesses of each kind.
 */
#include <inttypes.h>
#include <stdio.h>

#include "access_rules.h"
#include "elf/image.h"

enum { COMPLAINTS = 20 };

static const char *const hows[] = {
	"plain", "atomic", "exclusive", "string", "until", "gather", "masked",
	"unknown", "block",
};

static uint64_t insns, complaints, counts[ACCESS_HOWS];

static void complain(const char *wrong, const char *path, uint64_t addr,
		     const uint8_t *code, unsigned len)
{
	if (complaints++ >= COMPLAINTS)
		return;
	printf("%s: %s:%" PRIx64 ":", wrong, path, addr);
	for (unsigned i = 0; i < len; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

/* checks the instruction there; returns where the next may be */
static uint64_t check(const struct isa *isa, const char *path,
		      const uint8_t *code, size_t avail, uint64_t addr)
{
	const char *wrong = access_disagrees(isa, code, avail, addr);
	struct access a[ACCESS_MOST];
	struct insn in;
	unsigned n;

	isa->scan(code, avail, addr, &in);
	if (in.kind == INSN_BAD)
		return addr + isa->align;
	insns++;
	if (wrong)
		complain(wrong, path, addr, code, in.len);
	n = isa->accesses(code, avail, addr, a);
	for (unsigned i = 0; i < n; i++)
		counts[a[i].how]++;
	return addr + in.len;
}

static void check_image(const struct image *im, const char *path)
{
	const struct isa *machine = isa_for_elf(im->machine);
	const uint8_t *code;
	size_t avail;

	for (size_t i = 0; machine && i < im->ncode; i++)
		for (uint64_t at = im->code[i].start; at < im->code[i].end;) {
			code = image_at(im, at, &avail);
			if (!code)
				break;
			at = check(machine, path, code, avail, at);
		}
}

int main(int argc, char **argv)
{
	struct image im;
	struct err e;
	int files = 0;

	for (int i = 1; i < argc; i++) {
		if (image_open(&im, argv[i], &e))
			continue;
		check_image(&im, argv[i]);
		image_close(&im);
		files++;
	}
	printf("total %d %" PRIu64 " %" PRIu64, files, insns, complaints);
	for (int i = 0; i < ACCESS_HOWS; i++)
		printf(" %s=%" PRIu64, hows[i], counts[i]);
	printf("\n");
	return complaints != 0;
}
