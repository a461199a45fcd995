/* sandbox: see sandbox.h. */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/debug.h"
#include "base/regular.h"

enum { CAPABILITIES = 64, CHILD_EXHAUSTED = 3 };

/* --- what it may not do */

/* all that reading, allocating, answering and ending takes */
static const int compute[] = {
	SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_write, SYS_writev,
	SYS_lseek, SYS_fstat, SYS_newfstatat /* fstat() is this */, SYS_close,
	SYS_sendmsg, SYS_recvmsg,
	SYS_sendto, SYS_recvfrom, SYS_ppoll,
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_brk, SYS_madvise,
	SYS_clock_gettime, SYS_getrandom, SYS_futex, SYS_getpid, SYS_gettid,
	SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_rt_sigaction,
	SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_sched_yield,
#ifdef __SANITIZE_ADDRESS__
	SYS_sigaltstack, /* of threads that end */
#endif
};

/* to look for files, and to read them */
static const int look[] = {
	SYS_statx, SYS_readlinkat, SYS_faccessat,
	SYS_getdents64, SYS_fcntl, SYS_dup, SYS_getcwd, SYS_geteuid,
	SYS_getuid, SYS_prlimit64,
#ifdef SYS_stat
	SYS_stat, SYS_lstat, SYS_readlink, SYS_access,
#endif
};

/* by which of its arguments the flags of an open are known */
static const struct {
	int call;
	unsigned flags;
} open_calls[] = {
	{SYS_openat, 2},
#ifdef SYS_open
	{SYS_open, 1},
#endif
};

typedef VEC(struct sock_filter) filter;

static void put(filter *f, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	struct sock_filter x = {code, yes, no, k};

	vec_push(f, x);
}

static void load(filter *f, size_t offset)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(filter *f, uint32_t what)
{
	put(f, BPF_RET | BPF_K, what, 0, 0);
}

static void allow(filter *f, const int *call, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call[i], 0, 1);
		answer(f, SECCOMP_RET_ALLOW);
	}
}

/* opens that neither write nor make anything */
static void allow_opens(filter *f)
{
	const uint32_t wrong = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC |
			       (O_TMPFILE & ~O_DIRECTORY);
	const size_t args = offsetof(struct seccomp_data, args);

	for (size_t i = 0; i < sizeof open_calls / sizeof *open_calls; i++) {
		put(f, BPF_JMP | BPF_JEQ | BPF_K,
		    (uint32_t)open_calls[i].call, 0, 4);
		load(f, args + 8 * open_calls[i].flags);
		put(f, BPF_JMP | BPF_JSET | BPF_K, wrong, 0, 1);
		answer(f, SECCOMP_RET_ERRNO | EPERM);
		answer(f, SECCOMP_RET_ALLOW);
	}
}

/* which machine's system calls these numbers are of, as the kernel says it */
static uint32_t audit_machine(void)
{
	extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility(
		"hidden")));

	return __ehdr_start.e_machine | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE;
}

static void refuse_calls(const struct sandbox_limits *l)
{
	struct sock_fprog p;
	filter f = {0};

	load(&f, offsetof(struct seccomp_data, arch));
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, audit_machine(), 1, 0);
	answer(&f, SECCOMP_RET_ERRNO | EPERM);
	load(&f, offsetof(struct seccomp_data, nr));
	allow(&f, compute, sizeof compute / sizeof *compute);
	if (l->opens) {
		allow(&f, look, sizeof look / sizeof *look);
		allow_opens(&f);
	}
	answer(&f, SECCOMP_RET_ERRNO | EPERM);
	p = (struct sock_fprog){(unsigned short)f.n, f.at};
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	vec_free(&f);
}

/* none can come back; to say so takes one */
static void bound_capabilities(void)
{
	for (int i = 0; i < CAPABILITIES; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &h, none);
}

/* false: it still has the user of its parent, which is root */
static bool become(const struct sandbox_limits *l)
{
	if (geteuid() || l->network)
		return true;
	return !setgroups(0, NULL) && !setresgid(l->gid, l->gid, l->gid) &&
	       !setresuid(l->uid, l->uid, l->uid);
}

int sandbox_become_owner(const char *path, struct err *e)
{
	struct sandbox_limits l = {.uid = SANDBOX_NOBODY,
				   .gid = SANDBOX_NOBODY};
	struct stat s;

	if (geteuid())
		return 0;
	if (!stat(path, &s)) {
		l.uid = s.st_uid;
		l.gid = s.st_gid;
	}
	regular_only_of(l.uid);
	if (!l.uid)
		return 0;
	bound_capabilities();
	if (!become(&l))
		return err_set(e, ERR_MACHINE, "%s: cannot become its owner: "
			       "%s", path, strerror(errno));
	drop_capabilities();
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return 0;
}

/* --- what it may take */

#ifndef __SANITIZE_ADDRESS__ /* which reserves all there is */
/* bytes that count for RLIMIT_DATA by now */
static uint64_t memory_now(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (f && fscanf(f, "%*s %*s %*s %*s %*s %" SCNu64, &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

static void limit(__rlimit_resource_t what, uint64_t n)
{
	struct rlimit had, r = {n, n};

	if (!getrlimit(what, &had) && had.rlim_max < n)
		r.rlim_cur = r.rlim_max = had.rlim_max;
	setrlimit(what, &r);
}

static void set_limits(const struct sandbox_limits *l)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, l->cpu);
	limit(RLIMIT_FSIZE, l->network ? RLIM_INFINITY : 0);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_DATA, memory_now() + l->memory);
#endif
}

static void leave(size_t wanted)
{
	(void)wanted;
	_Exit(CHILD_EXHAUSTED);
}

/* all descriptors but these two */
static void close_others(int a, int b)
{
	long most = sysconf(_SC_OPEN_MAX);
	unsigned low = (unsigned)(a < b ? a : b);
	unsigned high = (unsigned)(a < b ? b : a);

	if (b < 0)
		low = high = (unsigned)a;
	if ((low < 4 || !close_range(3, low - 1, 0)) &&
	    (high - low < 2 || !close_range(low + 1, high - 1, 0)) &&
	    !close_range(high + 1, ~0u, 0))
		return;
	for (int i = 3; i < most; i++)
		if (i != a && i != b)
			close(i);
}

/* the child: nothing of its parent's is left to it but memory */
static void be_small(const struct sandbox_limits *l, int fd, int keep)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXCPU, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	debug_end(); /* where that goes is closed next */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mem_on_exhausted(leave);
	close_others(fd, keep);
	set_limits(l);
	bound_capabilities();
	if (!become(l))
		_Exit(EXIT_FAILURE);
	/* which the change of users has undone */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	drop_capabilities();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!l->network)
		refuse_calls(l);
}

/* --- its parent */

int sandbox_start(struct sandbox *s, const struct sandbox_limits *l,
		  void (*work)(void *arg, int fd), void *arg, int keep,
		  struct err *e)
{
	int ends[2];

	*s = (struct sandbox)SANDBOX_NONE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set(e, ERR_MACHINE, "no socket: %s",
			       strerror(errno));
	s->pid = fork();
	if (!s->pid) {
		be_small(l, ends[1], keep);
		work(arg, ends[1]);
		_Exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (s->pid > 0) {
		s->fd = ends[0];
		return 0;
	}
	s->pid = 0;
	close(ends[0]);
	return err_set(e, ERR_MACHINE, "no process: %s", strerror(errno));
}

void sandbox_end(struct sandbox *s)
{
	if (!sandbox_is_there(s))
		return;
	close(s->fd);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*s = (struct sandbox)SANDBOX_NONE;
}

/* --- messages */

uint64_t sandbox_worked(const struct sandbox *s)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(s->pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t sandbox_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* false: nothing can be done there in time */
static bool await(int fd, short what, uint64_t deadline)
{
	struct pollfd p = {fd, what, 0};

	for (;;) {
		uint64_t now = sandbox_clock();
		int found;

		if (deadline && now >= deadline)
			return false;
		found = poll(&p, 1, deadline ? (int)(deadline - now) : -1);
		if (found > 0)
			return true;
		if (!found || errno != EINTR)
			return false;
	}
}

/* room for a descriptor beside what is sent */
union beside {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* the first byte of a message, with the descriptor; what sendmsg() returns */
static ssize_t send_first(int fd, char byte, int pass)
{
	struct iovec v = {&byte, 1};
	union beside c = {.room = {0}};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &c,
			   .msg_controllen = sizeof c.room};

	c.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof pass),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&c.head), &pass, sizeof pass);
	return sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool send_all(int fd, const void *p, size_t n, int pass,
		     uint64_t deadline)
{
	const char *at = p;

	while (n) {
		ssize_t done = pass >= 0 ? send_first(fd, *at, pass)
					 : send(fd, at, n,
						MSG_NOSIGNAL | MSG_DONTWAIT);

		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (done < 0 && !await(fd, POLLOUT, deadline))
			return false;
		if (done > 0) {
			at += done;
			n -= (size_t)done;
			pass = -1;
		}
	}
	return true;
}

bool sandbox_send(int fd, const buffer *b, int pass, uint64_t deadline)
{
	uint32_t n = (uint32_t)b->n;

	return b->n <= UINT32_MAX &&
	       send_all(fd, &n, sizeof n, pass, deadline) &&
	       send_all(fd, b->at, b->n, -1, deadline);
}

/* a descriptor that came along; it is closed if there is no place for it */
static void take_passed(struct msghdr *m, int *passed)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd;

	if (!c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof fd))
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	if (passed && *passed < 0)
		*passed = fd;
	else
		close(fd);
}

static bool receive_all(int fd, void *p, size_t n, int *passed,
			uint64_t deadline)
{
	char *at = p;

	while (n) {
		struct iovec v = {at, n};
		union beside c;
		struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1,
				   .msg_control = &c,
				   .msg_controllen = sizeof c.room};
		ssize_t done = recvmsg(fd, &m, MSG_DONTWAIT |
					       MSG_CMSG_CLOEXEC);

		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (!done || (done < 0 && !await(fd, POLLIN, deadline)))
			return false;
		if (done > 0) {
			take_passed(&m, passed);
			at += done;
			n -= (size_t)done;
		}
	}
	return true;
}

bool sandbox_receive(int fd, buffer *b, size_t most, int *passed,
		     uint64_t deadline)
{
	uint32_t n;

	b->n = 0;
	if (passed)
		*passed = -1;
	if (!receive_all(fd, &n, sizeof n, passed, deadline) || n > most)
		return false;
	vec_reserve(b, n);
	if (!receive_all(fd, b->at, n, NULL, deadline))
		return false;
	b->n = n;
	return true;
}
