/*
 * apart: work in a child of its own, which nobody hears of. For a process
 * that is not ours any more but for a moment: what goes wrong there, a limit
 * of the program's or a fault of ours, must not be its end.
 */
#ifndef LAUNCH_APART_H
#define LAUNCH_APART_H

/* runs f(ctx) in a child and waits for its end, whatever that is */
void apart_run(void (*f)(void *ctx), void *ctx);

#endif
