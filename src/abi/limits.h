/*
 * limits: the least that a program's limits on memory (RLIMIT_AS, RLIMIT_DATA)
 * have to allow, or nothing of ours takes part: tally does with a third of it
 * to start, and counters take a few MiB of the program's own share.
 */
#ifndef ABI_LIMITS_H
#define ABI_LIMITS_H

#define MEMORY_LEAST_TEXT "32 MiB"
enum { MEMORY_LEAST = 32 << 20 };

#endif
