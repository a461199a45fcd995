/*
 * member: which processes are of a run. The profile says so too, but it lies in
 * the memory of the program, which may have written anything there: whoever
 * sends signals asks here.
 */
#ifndef LAUNCH_MEMBER_H
#define LAUNCH_MEMBER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Has the process the profile, which is open, in memory, or does it descend
 * from this one? Sends it the signal then.
 */
bool member_signal(pid_t pid, int profile, int signo);

#endif
