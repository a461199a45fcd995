/*
 * syscalls: system calls that are made where control has just come by a choice,
 * in a thread, a child and a handler. Each thread prints the numbers of those
 * that it has made itself, in order.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 200 };

struct made {
	long number[MOST];
	unsigned n;
};

static struct made mine;

static inline long make(long number)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number)
			 : "rcx", "r11", "memory");
#else
	register long result __asm__("x0");
	register long x8 __asm__("x8") = number;

	__asm__ volatile("svc #0" : "=r"(result) : "r"(x8) : "memory");
#endif
	return result;
}

/* one of several, by the seed's bits */
__attribute__((noinline)) static void choose(struct made *m, unsigned seed)
{
	long number = SYS_getppid;

	if (seed & 1) {
		number = seed & 2 ? SYS_getuid : SYS_geteuid;
		make(number);
	} else if (seed & 4) {
		do {
			m->number[m->n++] = SYS_getgid;
			make(SYS_getgid);
		} while ((seed >>= 1) & 1);
		number = SYS_getegid;
		make(number);
	} else {
		make(number);
	}
	m->number[m->n++] = number;
}

static void choose_some(struct made *m, unsigned seed, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		choose(m, seed >> 16 & 63);
	}
}

static void tell(const char *name, const struct made *m)
{
	printf("%s", name);
	for (unsigned i = 0; i < m->n; i++)
		printf(" %ld", m->number[i]);
	printf("\n");
	fflush(stdout);
}

static void handler(int signal)
{
	choose_some(&mine, (unsigned)signal, 3);
}

static void *thread(void *unused)
{
	struct made m = {{0}, 0};

	choose_some(&m, 7, 20);
	tell("thread", &m);
	return unused;
}

static void child(void)
{
	struct made m = {{0}, 0};

	choose_some(&m, 9, 10);
	tell("child", &m);
	_exit(0);
}

int main(void)
{
	pthread_t t;
	int status;

	signal(SIGUSR1, handler);
	choose_some(&mine, 1, 30);
	raise(SIGUSR1);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	if (!fork())
		child();
	wait(&status);
	choose_some(&mine, 2, 3);
	tell("main", &mine);
	return 0;
}
