/* control: see control.h. */
#include "sample/daemon/control.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	PATIENCE = 10000, /* milliseconds, for a client's word */
	STATUS_PATIENCE = 10, /* seconds, for an answer */
	WRITE_PATIENCE = 300, /* seconds, if something has to be written */
};

static char *beside(const char *file, const char *suffix)
{
	size_t n = strlen(file) + strlen(suffix) + 1;
	char *path = mem_alloc(n);

	snprintf(path, n, "%s%s", file, suffix);
	return path;
}

/* --- the lock */

static int take_lock(struct control *c, const char *file, struct err *e)
{
	char *path = beside(file, ".lock");
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int status = 0;

	c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
			     O_NONBLOCK, 0600);
	if (c->lock < 0)
		status = err_set(e, ERR_MACHINE, "%s: %s", path,
				 strerror(errno));
	else if (fcntl(c->lock, F_SETLK, &l)) {
		if (fcntl(c->lock, F_GETLK, &l) || l.l_type == F_UNLCK)
			l.l_pid = 0;
		status = err_set(e, ERR_MACHINE, "%s: a daemon has it "
				 "already: process %ld", file,
				 (long)l.l_pid);
	}
	mem_free(path);
	return status;
}

/* --- the socket */

/*
 * Names of sockets are short, paths are not: by way of a descriptor of the
 * folder it always fits. Returns that descriptor, to be closed, or -1.
 */
static int socket_address(struct sockaddr_un *a, const char *path)
{
	char *copy = beside(path, ""), *name = beside(path, "");
	int dir = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/%s",
		     dir, basename(name));
	mem_free(copy);
	mem_free(name);
	if (dir >= 0 && n >= (int)sizeof a->sun_path) {
		close(dir);
		errno = ENAMETOOLONG;
		return -1;
	}
	return dir;
}

static int make_socket(struct control *c, struct err *e)
{
	struct sockaddr_un a;
	int dir = socket_address(&a, c->path), failed;
	mode_t was;

	c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			   0);
	unlink(c->path); /* of a daemon that was killed: we have the lock */
	was = umask(0177);
	failed = dir < 0 || c->socket < 0 ||
		 bind(c->socket, (struct sockaddr *)&a, sizeof a) ||
		 listen(c->socket, 8);
	umask(was);
	if (failed)
		err_set(e, ERR_MACHINE, "%s: %s", c->path, strerror(errno));
	if (dir >= 0)
		close(dir);
	return failed ? -1 : 0;
}

static int attend(const struct control *c, int fd)
{
	struct epoll_event x = {.events = EPOLLIN};

	return epoll_ctl(c->attention, EPOLL_CTL_ADD, fd, &x);
}

static int make_attention(struct control *c, struct err *e)
{
	c->attention = epoll_create1(EPOLL_CLOEXEC);
	if (c->attention >= 0 && !attend(c, c->socket))
		return 0;
	return err_set(e, ERR_MACHINE, "%s: %s", c->path, strerror(errno));
}

int control_open(struct control *c, const char *file, struct err *e)
{
	*c = (struct control)CONTROL_NONE;
	c->path = beside(file, ".socket");
	if (!take_lock(c, file, e) && !make_socket(c, e) &&
	    !make_attention(c, e))
		return 0;
	control_close(c);
	return -1;
}

bool control_is_gone(const struct control *c)
{
	struct stat s;

	return fstat(c->lock, &s) || !s.st_nlink;
}

/* what is closed gets no attention any more */
static void drop(struct control *c, size_t i)
{
	close(c->client[i].fd);
	c->clients--;
	memmove(&c->client[i], &c->client[i + 1],
		(c->clients - i) * sizeof *c->client);
}

void control_close(struct control *c)
{
	while (c->clients)
		drop(c, 0);
	if (c->attention >= 0)
		close(c->attention);
	if (c->socket >= 0) {
		/* where the folder is another one, so is the socket */
		if (!control_is_gone(c))
			unlink(c->path);
		close(c->socket);
	}
	if (c->lock >= 0)
		close(c->lock);
	mem_free(c->path);
	*c = (struct control)CONTROL_NONE;
}

/* whether the client is of the daemon's user, or of root */
static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) &&
	       (!peer.uid || peer.uid == geteuid());
}

static uint64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* the next client; if there are too many, the oldest has to go. False: none */
static bool let_in(struct control *c)
{
	int fd = accept4(c->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	if (!may_ask(fd) || attend(c, fd)) {
		close(fd);
		return true;
	}
	if (c->clients == CONTROL_CLIENTS)
		drop(c, 0);
	c->client[c->clients++] = (struct control_client){fd, milliseconds()};
	return true;
}

/* true: the client has its answer, or will have none */
static bool serve(const struct control_client *x,
		  void (*fn)(void *arg, const char *word, char *answer,
			     size_t room),
		  void *arg)
{
	char word[CONTROL_WORD], answer[CONTROL_ANSWER] = "";
	ssize_t n = recv(x->fd, word, sizeof word - 1, 0);

	if (n < 0 && errno == EAGAIN)
		return milliseconds() - x->since > PATIENCE;
	if (n <= 0)
		return true;
	word[n] = 0;
	fn(arg, word, answer, sizeof answer);
	(void)!send(x->fd, answer, strlen(answer), MSG_NOSIGNAL);
	return true;
}

void control_serve(struct control *c,
		   void (*fn)(void *arg, const char *word, char *answer,
			      size_t room),
		   void *arg)
{
	for (int i = 0; i < CONTROL_CLIENTS && let_in(c); i++)
		;
	for (size_t i = 0; i < c->clients;)
		if (serve(&c->client[i], fn, arg))
			drop(c, i);
		else
			i++;
}

/* sends the word, and takes the answer; false: errno says why not */
static bool exchange(int fd, const char *word, char answer[CONTROL_ANSWER])
{
	size_t n = 0;
	ssize_t more;

	/* a daemon that we may not ask closes it, before or after this */
	if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return false;
	while (n < CONTROL_ANSWER - 1 &&
	       (more = recv(fd, answer + n, CONTROL_ANSWER - 1 - n, 0)) > 0)
		n += (size_t)more;
	answer[n] = 0;
	if (more >= 0 || errno != EAGAIN)
		errno = n ? 0 : EPERM;
	return n;
}

/* it answers at once but for a write to the disk, which may take a while */
static void limit_wait(int fd, const char *word)
{
	struct timeval t = {strcmp(word, "status") ? WRITE_PATIENCE :
						     STATUS_PATIENCE, 0};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

/* the daemon's process, by the file that it holds locked; 0: not known */
static pid_t owner_of(const char *file)
{
	char *path = beside(file, ".lock");
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || fcntl(fd, F_GETLK, &l) || l.l_type == F_UNLCK)
		l.l_pid = 0;
	if (fd >= 0)
		close(fd);
	mem_free(path);
	return l.l_pid > 0 ? l.l_pid : 0;
}

/* is the process stopped, by a signal or a debugger? */
static bool is_stopped(pid_t pid)
{
	char path[48], line[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof line, f))
		*line = 0;
	if (f)
		fclose(f);
	state = strrchr(line, ')');
	return state && (state[2] == 'T' || state[2] == 't');
}

/* the daemon does not answer, though its socket is there */
static int no_answer(const char *file, int why, struct err *e)
{
	pid_t pid = owner_of(file);

	if (why != EAGAIN && why != EINPROGRESS)
		return err_set(e, ERR_MACHINE, "%s: the daemon does not "
			       "answer: %s", file, strerror(why));
	if (pid && is_stopped(pid))
		return err_set(e, ERR_MACHINE, "%s: the daemon does not "
			       "answer: process %ld is stopped; 'kill -CONT "
			       "%ld' lets it go on", file, (long)pid,
			       (long)pid);
	return err_set(e, ERR_MACHINE, "%s: the daemon, process %ld, does not "
		       "answer in time: it is busy; ask again later", file,
		       (long)pid);
}

bool control_is_there(const char *file)
{
	char *path = beside(file, ".socket");
	struct sockaddr_un a;
	int dir = socket_address(&a, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);
	bool there = dir >= 0 && fd >= 0 &&
		     (!connect(fd, (struct sockaddr *)&a, sizeof a) ||
		      errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	mem_free(path);
	return there;
}

int control_ask(const char *file, const char *word,
		char answer[CONTROL_ANSWER], struct err *e)
{
	char *path = beside(file, ".socket");
	struct sockaddr_un a;
	int dir = socket_address(&a, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool there;
	int status = 0;

	if (fd >= 0)
		limit_wait(fd, word);
	there = dir >= 0 && fd >= 0 &&
		!connect(fd, (struct sockaddr *)&a, sizeof a);

	if (!there && (errno == ENOENT || errno == ECONNREFUSED))
		status = err_set(e, ERR_MACHINE, "%s: no daemon runs for it",
				 file);
	else if (!there || !exchange(fd, word, answer))
		status = no_answer(file, errno, e);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	mem_free(path);
	return status;
}

void control_wait(const char *file)
{
	char *path = beside(file, ".lock");
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	while (fd >= 0 && fcntl(fd, F_SETLKW, &l) && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	mem_free(path);
}
