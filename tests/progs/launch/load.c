/*
 * load: loads libraries in the ways given and says what they are called.
 *
 *	open NAME     dlopen(NAME)          noload NAME   if it is there
 *	space NAME    dlmopen(new, NAME)    loop NAME     open and close 50 x
 *	close         the last one          where FOLDER  is it from there?
 *	call          its function answer()
 *	user, iconv   NSS and gconv modules
 *	thread NAME   dlopen in a small thread
 *	sandbox       system calls of the kind that start programs now kill
 *	children      signals and children that are not ours
 */
#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void *last;
static int children;

static void on_child(int s)
{
	(void)s;
	children++;
}

static void describe(void *h, const char *name)
{
	char origin[8192] = "";
	struct link_map *m;
	Dl_info d;
	void *f;

	if (!h) {
		printf("%s: %s\n", name, dlerror());
		return;
	}
	dlinfo(h, RTLD_DI_LINKMAP, &m);
	printf("%s: name '%s'\n", name, m->l_name);
	if (!dlinfo(h, RTLD_DI_ORIGIN, origin) && getenv("SHOW_ORIGIN"))
		printf("%s: origin '%s'\n", name, origin);
	f = dlsym(h, "answer");
	if (f && dladdr(f, &d))
		printf("%s: answer in '%s'\n", name, d.dli_fname);
}

/* the code of the last library is mapped from below the folder */
static void where(const char *folder)
{
	unsigned long at = (unsigned long)dlsym(last, "answer"), from, to;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[8192];

	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at &&
		    at < to)
			printf("from there: %s\n",
			       strstr(line, folder) ? "yes" : "no");
	fclose(f);
}

static void loop(const char *name)
{
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		void *h = dlopen(name, RTLD_NOW);
		int (*f)(void) = h ? (int (*)(void))dlsym(h, "answer") : NULL;

		sum += f ? f() : -1000;
		if (h)
			dlclose(h);
	}
	printf("loop %d\n", sum);
}

static void *open_in_thread(void *name)
{
	return dlopen(name, RTLD_NOW);
}

static void thread(const char *name)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	pthread_create(&t, &a, open_in_thread, (void *)name);
	pthread_join(t, &last);
	describe(last, "thread");
}

/* after this, clone and execve end the process */
static void sandbox(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = {sizeof code / sizeof *code, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void convert(void)
{
	char in[] = "gr\xfc\xdf", out[64] = "", *i = in, *o = out;
	size_t n = strlen(in), room = sizeof out;
	iconv_t c = iconv_open("UTF-16LE", "CP1141");

	if (c == (iconv_t)-1) {
		perror("iconv_open");
		return;
	}
	iconv(c, &i, &n, &o, &room);
	for (char *p = out; p < o; p++)
		printf("%02x ", (unsigned char)*p);
	putchar('\n');
	iconv_close(c);
}

int main(int argc, char **argv)
{
	struct passwd *p;

	signal(SIGCHLD, on_child);
	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];
		const char *name = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(what, "open") || !strcmp(what, "noload") ||
		    !strcmp(what, "space")) {
			last = !strcmp(what, "space") ?
				dlmopen(LM_ID_NEWLM, name, RTLD_NOW) :
				dlopen(name, !strcmp(what, "open") ? RTLD_NOW :
				       RTLD_NOW | RTLD_NOLOAD);
			describe(last, what);
			i++;
		} else if (!strcmp(what, "where")) {
			where(name);
			i++;
		} else if (!strcmp(what, "thread")) {
			thread(name);
			i++;
		} else if (!strcmp(what, "sandbox")) {
			sandbox();
		} else if (!strcmp(what, "loop")) {
			loop(name);
			i++;
		} else if (!strcmp(what, "call")) {
			printf("answer %d\n",
			       ((int (*)(void))dlsym(last, "answer"))());
		} else if (!strcmp(what, "close")) {
			dlclose(last);
		} else if (!strcmp(what, "user")) {
			p = getpwnam("root");
			printf("root is %d\n", p ? (int)p->pw_uid : -1);
		} else if (!strcmp(what, "iconv")) {
			convert();
		} else if (!strcmp(what, "children")) {
			errno = 0;
			waitpid(-1, NULL, WNOHANG);
			printf("children %d %s\n", children, strerror(errno));
		}
	}
	return 0;
}
