/*
 * atomics: load-exclusive and store-exclusive, by hand and by the compiler,
 * in several threads at once.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 2000 };

static volatile uint64_t word;
static volatile uint32_t small;
static volatile uint8_t byte;
static volatile uint64_t pair[2] __attribute__((aligned(16)));
static uint64_t by_compiler, swapped, largest;
static unsigned char lock;
static long under_lock;

#ifdef __aarch64__
static void increment(volatile uint64_t *p)
{
	uint64_t x;
	uint32_t failed;

	__asm__ volatile("1: ldxr %0, [%2]\n"
			 "add %0, %0, #1\n"
			 "stxr %w1, %0, [%2]\n"
			 "cbnz %w1, 1b"
			 : "=&r"(x), "=&r"(failed)
			 : "r"(p)
			 : "memory");
}

/* a branch out of the sequence: nothing is stored at the limit */
static void increment_below(volatile uint32_t *p, uint32_t limit)
{
	uint32_t x, failed;

	__asm__ volatile("1: ldaxr %w0, [%2]\n"
			 "cmp %w0, %w3\n"
			 "b.hs 2f\n"
			 "add %w0, %w0, #1\n"
			 "stlxr %w1, %w0, [%2]\n"
			 "cbnz %w1, 1b\n"
			 "b 3f\n"
			 "2: clrex\n"
			 "3:"
			 : "=&r"(x), "=&r"(failed)
			 : "r"(p), "r"(limit)
			 : "memory", "cc");
}

static void increment_byte(volatile uint8_t *p)
{
	uint32_t x, failed;

	__asm__ volatile("b 2f\n"
			 "1: yield\n"
			 "2: ldxrb %w0, [%2]\n"
			 "add %w0, %w0, #1\n"
			 "stxrb %w1, %w0, [%2]\n"
			 "tbnz %w1, #0, 1b"
			 : "=&r"(x), "=&r"(failed)
			 : "r"(p)
			 : "memory");
}

static void increment_pair(volatile uint64_t *p)
{
	uint64_t x, y;
	uint32_t failed;

	__asm__ volatile("1: ldaxp %0, %1, [%3]\n"
			 "add %0, %0, #1\n"
			 "add %1, %1, #2\n"
			 "stlxp %w2, %0, %1, [%3]\n"
			 "cbnz %w2, 1b"
			 : "=&r"(x), "=&r"(y), "=&r"(failed)
			 : "r"(p)
			 : "memory");
}
#else
static void increment(volatile uint64_t *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
}
static void increment_below(volatile uint32_t *p, uint32_t limit)
{
	uint32_t x = *p;

	while (x < limit &&
	       !__atomic_compare_exchange_n(p, &x, x + 1, 0, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}
static void increment_byte(volatile uint8_t *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
}
static void increment_pair(volatile uint64_t *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(p + 1, 2, __ATOMIC_SEQ_CST);
}
#endif

static void *run(void *arg)
{
	uint64_t id = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t old = __atomic_load_n(&largest, __ATOMIC_RELAXED);

		increment(&word);
		increment_below(&small, 777);
		increment_byte(&byte);
		increment_pair(pair);
		__atomic_fetch_add(&by_compiler, i, __ATOMIC_ACQ_REL);
		__atomic_fetch_xor(&swapped, i * id, __ATOMIC_SEQ_CST);
		while (old < i * 3 + id &&
		       !__atomic_compare_exchange_n(&largest, &old, i * 3 + id,
						    0, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED))
			;
		while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
			;
		under_lock += (long)id;
		__atomic_clear(&lock, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%lu %u %u %lu %lu\n", (unsigned long)word, small, byte,
	       (unsigned long)pair[0], (unsigned long)pair[1]);
	printf("%lu %lu %lu %ld\n", (unsigned long)by_compiler,
	       (unsigned long)swapped, (unsigned long)largest, under_lock);
	return 0;
}
