/*
 * as-host: runs PROGRAM by EMULATOR, with libraries in ROOT, as it is called
 * itself; all three are told by who compiles this. (A shell would change the
 * environment and what is done with signals.)
 *
 * QEMU_SINGLESTEP is for the emulators that the program starts: a step each is
 * too slow for tally itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 6, sizeof *words);
	int n = 0;

	if (!words)
		return 126;
	words[n++] = EMULATOR;
	words[n++] = "-L";
	words[n++] = ROOT;
	if (getenv("QEMU_SINGLESTEP")) {
		unsetenv("QEMU_SINGLESTEP");
		words[n++] = "-E";
		words[n++] = "QEMU_SINGLESTEP=1";
	}
	words[n++] = PROGRAM;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	execvp(EMULATOR, words);
	perror(EMULATOR);
	return 127;
}
