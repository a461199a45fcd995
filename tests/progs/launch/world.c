/*
 * world: all that a program sees of its world, as text: what a rewritten
 * program prints must be what the original prints.
 *
 *	world             everything
 *	world exit N      ends with status N
 *	world die N       ends by signal N
 *	world wait FILE   makes FILE, then waits for a signal and names it
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static int show_object(struct dl_phdr_info *i, size_t n, void *arg)
{
	(void)n;
	(void)arg;
	printf("object '%s'\n", i->dlpi_name);
	return 0;
}

static void show_names(char **argv)
{
	char comm[17] = "", cwd[4096];
	Dl_info d;

	for (int i = 0; argv[i]; i++)
		printf("argv %d '%s'\n", i, argv[i]);
	printf("execfn '%s'\n", (char *)getauxval(AT_EXECFN));
	printf("invocation '%s' '%s'\n", program_invocation_name,
	       program_invocation_short_name);
	prctl(PR_GET_NAME, comm);
	printf("comm '%s'\n", comm);
	printf("cwd '%s'\n", getcwd(cwd, sizeof cwd));
	if (dladdr((void *)show_names, &d))
		printf("main in '%s'\n", d.dli_fname);
	if (dladdr(dlsym(RTLD_DEFAULT, "qsort"), &d))
		printf("qsort in '%s'\n", d.dli_fname);
	dl_iterate_phdr(show_object, NULL);
}

/* the auxiliary vector is where everybody looks for it, behind environ */
static void show_auxv(void)
{
	char **e = environ;
	unsigned long *a;
	int n = 0;

	while (*e++)
		;
	for (a = (unsigned long *)e; a[0] != AT_NULL; a += 2)
		n += a[0] == AT_PAGESZ && a[1] == getauxval(AT_PAGESZ);
	printf("auxv %d\n", n);
}

/* the same strings, as the kernel shows them */
static void show_environ(void)
{
	FILE *f = fopen("/proc/self/environ", "r");
	unsigned long n = 0, sum = 0;
	int c;

	while ((c = getc(f)) != EOF) {
		n++;
		sum = sum * 31 + (unsigned)c;
	}
	fclose(f);
	printf("environ of %lu bytes, %lx\n", n, sum);
}

static void show_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++) {
		struct stat st;

		if (!fstat(fd, &st))
			printf("descriptor %d type %o\n", fd,
			       st.st_mode & S_IFMT);
	}
}

static void show_signals(void)
{
	struct itimerval t;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int s = 1; s < 65; s++) {
		struct sigaction a;

		if (sigismember(&set, s) == 1)
			printf("blocked %d\n", s);
		if (!sigaction(s, NULL, &a) && a.sa_handler != SIG_DFL)
			printf("signal %d %s\n", s, a.sa_handler == SIG_IGN ?
			       "ignored" : "caught");
	}
	sigpending(&set);
	for (int s = 1; s < 65; s++)
		if (sigismember(&set, s) == 1)
			printf("pending %d\n", s);
	getitimer(ITIMER_REAL, &t);
	printf("alarm %s\n", t.it_value.tv_sec ? "set" : "not set");
}

static void show_limits(void)
{
	mode_t mask = umask(0);
	struct rlimit l;

	umask(mask);
	printf("umask %o nice %d\n", mask, getpriority(PRIO_PROCESS, 0));
	for (int i = 0; i < 16; i++)
		if (!getrlimit(i, &l))
			printf("limit %d %lx %lx\n", i, (long)l.rlim_cur,
			       (long)l.rlim_max);
	printf("leader %d terminal %d\n", getsid(0) == getpid(),
	       tcgetpgrp(0) == getpgrp());
}

static int caught;

static void catch(int signo)
{
	caught = signo;
}

static int wait_for_signal(const char *file)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGTERM, SIGCONT, SIGWINCH,
				      SIGALRM};
	sigset_t all, none;
	FILE *f;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], catch);
	f = fopen(file, "w");
	fprintf(f, "%d\n", getpid());
	fclose(f);
	sigemptyset(&none);
	for (;;) {
		sigsuspend(&none);
		printf("caught %d\n", caught);
		fflush(stdout);
		if (caught == SIGTERM || caught == SIGINT ||
		    caught == SIGALRM)
			return 40 + caught;
	}
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "die")) {
		struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		signal(atoi(argv[2]), SIG_DFL);
		raise(atoi(argv[2]));
		pause();
	}
	if (argc > 2 && !strcmp(argv[1], "wait"))
		return wait_for_signal(argv[2]);
	show_names(argv);
	show_auxv();
	show_environ();
	show_descriptors();
	show_signals();
	show_limits();
	for (char **e = environ; *e; e++)
		printf("variable %s\n", *e);
	fflush(stdout);
	return system("exec env | sed 's/^/child /'");
}
