/*
 * touched: what qemu-touched.c tells of an access, and list-touched.c reads.
 */
#ifndef TEST_TOUCHED_H
#define TEST_TOUCHED_H

/* above the size: what is done */
enum { TOUCHED_SHIFT = 16 };
#define TOUCHED_LOAD (1u << TOUCHED_SHIFT)
#define TOUCHED_STORE (2u << TOUCHED_SHIFT)
#define TOUCHED_SIZE 0xffffu

#endif
