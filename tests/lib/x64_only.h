/*
 * x64_only: the whole of a test that runs what it decodes, or of a tool for one,
 * on a processor that cannot. tests/allowed-skips knows the reason. (cmocka's
 * own skip() says "not ok # SKIP", which prove takes for a failure.)
 */
#ifndef TEST_X64_ONLY_H
#define TEST_X64_ONLY_H

#include <stdio.h>

#ifndef __x86_64__

int main(void)
{
	puts("1..0 # SKIP no x86-64 processor");
	return 0;
}

#endif

#endif
