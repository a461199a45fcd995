/* run_query: see run_query.h. */
#include "profile/run_query.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/event_places.h"
#include "launch/freeze.h"
#include "launch/inspect.h"

enum { LINE = 4096 + 256 }; /* of /proc/PID/maps */

struct query_process {
	pid_t pid;
	struct inspection *x;
};

struct run_query {
	char *path; /* of the profile */
	pid_t pid;  /* of one process, or 0: all */
	struct event_list list;
	struct profile profile; /* as it was: its images */
	struct event_places *places; /* in them */
	VEC(struct query_process) process;
};

/* --- the profile of a process */

/* is it a profile that is being written? */
static bool is_live(const char *path)
{
	struct profile_header h = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, &h, sizeof h) == sizeof h && h.magic == PROFILE_MAGIC &&
	     h.form == PROFILE_LIVE;
	close(fd);
	return is;
}

/* the profile that a process has mapped, to be freed; NULL: none */
static char *mapped_profile(pid_t pid)
{
	char name[64], line[LINE], *found = NULL;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
	f = fopen(name, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(line, " rw-s 00000000 "))
			continue;
		path[strcspn(path, "\n")] = 0;
		if (is_live(path))
			found = strdup(path);
	}
	if (f)
		fclose(f);
	return found;
}

/* that of one of its children, or of theirs */
static char *child_profile(pid_t pid, unsigned depth)
{
	char name[64], *found = NULL;
	long child;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/task/%ld/children", (long)pid,
		 (long)pid);
	f = fopen(name, "re");
	while (f && !found && fscanf(f, "%ld", &child) == 1) {
		found = mapped_profile((pid_t)child);
		if (!found && depth)
			found = child_profile((pid_t)child, depth - 1);
	}
	if (f)
		fclose(f);
	return found;
}

static int refuse(pid_t pid, struct err *e)
{
	char name[64];

	if (kill(pid, 0) && errno == ESRCH)
		return err_set(e, ERR_INPUT, "there is no process %ld",
			       (long)pid);
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
	if (access(name, R_OK) || (kill(pid, 0) && errno == EPERM))
		return err_set(e, ERR_MACHINE, "process %ld is another "
			       "user's: it may not be looked at", (long)pid);
	return err_set(e, ERR_INPUT, "process %ld counts nothing: 'tally "
		       "events' did not start it, or it was rewritten by "
		       "another version", (long)pid);
}

/* --- processes */

static void close_processes(struct run_query *q)
{
	for (size_t i = 0; i < q->process.n; i++)
		inspect_close(q->process.at[i].x);
	q->process.n = 0;
}

/* those that count now; requires: the profile was opened just now */
static int open_processes(struct run_query *q, struct err *e)
{
	close_processes(q);
	for (size_t i = 0; i < q->profile.process.n; i++) {
		const struct profile_process *p = &q->profile.process.at[i];
		struct query_process x = {.pid = (pid_t)p->pid};

		if ((q->pid && x.pid != q->pid) || p->ended ||
		    !profile_is_alive(p))
			continue;
		x.x = inspect_open(q->path, x.pid, false, e);
		if (!x.x)
			return -1;
		vec_push(&q->process, x);
	}
	return q->process.n ? 0 : err_set(e, ERR_INPUT, "the program has "
					  "ended");
}

/* that may not be open: it can have gone meanwhile */
static void close_profile(struct run_query *q)
{
	if (!q->places)
		return;
	event_places_close(q->places);
	profile_close(&q->profile);
	q->places = NULL;
}

/* --- threads */

/* a place in the middle of a block; false: it is not known what it means */
static bool correct(struct run_query *q, const struct process_end *end,
		    struct thread_events *t)
{
	struct event_place p;

	if (!event_places_find(q->places, end, &p))
		return false;
	for (unsigned i = 0; i < q->list.n; i++)
		t->at[i].n += (uint64_t)p.add[i] * end->count;
	return true;
}

/*
 * A thread's phases: what its block is still to be corrected by is of the one
 * that it is in; what it left out is no part of its counts.
 */
static void add_thread_phases(const struct run_query *q,
			      const struct inspected *x,
			      struct thread_events *t)
{
	struct inspected_phases *p = x->phases;

	for (unsigned i = 0; i < q->list.n; i++) {
		if (p->row != PHASE_NONE)
			p->value[p->row][i] += t->at[i].n - x->value[i];
		t->at[i].n -= p->value[PHASE_LEFT_OUT][i];
	}
}

static void add_thread(struct run_query *q, const struct inspected *x,
		       struct thread_events *t)
{
	bool known = !x->lost;

	*t = (struct thread_events){.tid = x->tid};
	for (unsigned i = 0; i < q->list.n; i++)
		t->at[i].n = x->value[i];
	for (uint32_t i = 0; i < x->nend; i++)
		known &= correct(q, &x->end[i], t);
	for (unsigned i = 0; i < q->list.n; i++)
		t->at[i].near = !known;
	if (x->phases)
		add_thread_phases(q, x, t);
}

/* the phase of the process that is the last one in r; a new one if need be */
static struct phase_events *phase_of(struct run_events *r, uint32_t process,
				     const char *name)
{
	struct phase_events x = {.process = process};

	for (size_t i = r->phase.n;
	     i && r->phase.at[i - 1].process == process; i--)
		if (!strcmp(r->phase.at[i - 1].name, name))
			return &r->phase.at[i - 1];
	x.name = arena_string(&r->arena, name, strlen(name));
	vec_push(&r->phase, x);
	return &r->phase.at[r->phase.n - 1];
}

/* of one block */
static void add_phases(const struct run_query *q, struct run_events *r,
		       uint32_t process, const struct inspected_phases *p,
		       bool known)
{
	bool left_out = p->row == PHASE_LEFT_OUT;

	for (unsigned i = 0; i < q->list.n; i++)
		left_out |= p->value[PHASE_LEFT_OUT][i] != 0;
	for (unsigned row = 0; row < PHASES; row++) {
		struct phase_events *x;

		if (row ? !p->name[row][0] : !left_out)
			continue;
		x = phase_of(r, process, row ? p->name[row] : "");
		for (unsigned i = 0; i < q->list.n; i++) {
			x->at[i].n += p->value[row][i];
			x->at[i].near |= !known && p->row == row;
		}
		x->open += p->row == row;
	}
}

/* is it known where the thread with these phases was? */
static bool is_known(const struct inspected_list *l,
		     const struct inspected_phases *p)
{
	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.at[i].phases == p)
			return !l->v.at[i].lost;
	return true;
}

static int ask_process(struct run_query *q, const struct query_process *x,
		       struct run_events *r, struct err *e)
{
	struct process_events p = {.pid = (uint32_t)x->pid, .name = ""};
	struct inspected_list l = {0};

	if (inspect_threads(x->x, &l, e)) {
		inspected_list_free(&l);
		return -1;
	}
	for (size_t i = 0; i < q->profile.process.n; i++)
		if ((pid_t)q->profile.process.at[i].pid == x->pid) {
			p.number = q->profile.process.at[i].number;
			p.name = q->profile.process.at[i].name;
		}
	p.thread = ARENA_ARRAY(&r->arena, struct thread_events, l.v.n);
	for (unsigned k = 0; k < q->list.n; k++)
		p.at[k].n = l.ended[k];
	for (size_t i = 0; i < l.v.n; i++) {
		add_thread(q, &l.v.at[i], &p.thread[p.nthread++]);
		for (unsigned k = 0; k < q->list.n; k++) {
			p.at[k].n += p.thread[i].at[k].n;
			p.at[k].near |= p.thread[i].at[k].near;
		}
	}
	for (unsigned k = 0; k < q->list.n; k++) {
		r->at[k].n += p.at[k].n;
		r->at[k].near |= p.at[k].near;
	}
	for (size_t i = 0; i < l.phases.n; i++)
		add_phases(q, r, p.number, l.phases.at[i],
			   is_known(&l, l.phases.at[i]));
	vec_push(&r->process, p);
	inspected_list_free(&l);
	return 0;
}

/* --- the run */

static int open_profile(struct run_query *q, struct err *e)
{
	if (profile_open(&q->profile, q->path, e))
		return -1;
	q->places = event_places_open(&q->profile, &q->list);
	return 0;
}

/* a profile to which something was added is read anew */
static int refresh(struct run_query *q, struct err *e)
{
	bool old = !q->process.n;

	for (size_t i = 0; i < q->process.n; i++)
		old |= inspect_is_old(q->process.at[i].x) ||
		       (kill(q->process.at[i].pid, 0) && errno == ESRCH);
	if (!old)
		return 0;
	close_profile(q);
	/* `tally events` takes it away at its end */
	if (access(q->path, F_OK))
		return err_set(e, ERR_INPUT, "the program has ended");
	if (open_profile(q, e))
		return -1;
	return open_processes(q, e);
}

struct run_query *run_query_open(pid_t pid, bool *all, struct err *e)
{
	struct run_query *q = NEW_ARRAY(struct run_query, 1);

	q->path = mapped_profile(pid);
	*all = !q->path;
	if (*all)
		q->path = child_profile(pid, 1);
	else
		q->pid = pid;
	if (!q->path) {
		refuse(pid, e);
		mem_free(q);
		return NULL;
	}
	if (open_profile(q, e)) {
		free(q->path);
		mem_free(q);
		return NULL;
	}
	if (event_list_of_profile(&q->list, q->profile.options, e) ||
	    open_processes(q, e)) {
		run_query_close(q);
		return NULL;
	}
	return q;
}

void run_query_close(struct run_query *q)
{
	close_processes(q);
	vec_free(&q->process);
	close_profile(q);
	event_list_free(&q->list);
	free(q->path);
	mem_free(q);
}

const struct event_list *run_query_list(const struct run_query *q)
{
	return &q->list;
}

static const char *own_text(struct run_events *r, const char *text)
{
	return text ? arena_string(&r->arena, text, strlen(text)) : NULL;
}

static void own_left(struct run_events *r, struct not_measured *n)
{
	n->image = own_text(r, n->image);
	n->procedure = own_text(r, n->procedure);
	n->reason = own_text(r, n->reason);
}

/* what one process did, as if there were no other */
static void keep_process(const struct run_query *q, struct run_events *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->process.n; i++)
		if ((pid_t)r->process.at[i].pid == q->pid)
			r->process.at[n++] = r->process.at[i];
	r->process.n = n;
	memset(r->at, 0, sizeof r->at);
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < q->list.n; k++) {
			r->at[k].n += r->process.at[i].at[k].n;
			r->at[k].more |= r->process.at[i].at[k].more;
			r->at[k].near |= r->process.at[i].at[k].near;
		}
}

/* counts of places, from a copy of the profile */
static int ask_copy(const struct run_query *q, const char *copy,
		    struct run_events *r, struct err *e)
{
	struct counts t;
	int status;

	if (counts_open(&t, &copy, 1, NULL, e))
		return -1;
	status = run_events_make(r, &t, &q->list, true, e);
	/* names are the profile's, which goes */
	for (size_t i = 0; !status && i < r->process.n; i++)
		r->process.at[i].name =
			arena_string(&r->arena, r->process.at[i].name,
				     strlen(r->process.at[i].name));
	r->left.n = status ? 0 : r->left.n;
	for (size_t i = 0; !status && i < r->left.n; i++)
		own_left(r, &r->left.at[i]);
	/* threads were stopped, and where they are is in the copy */
	r->trouble.n = 0;
	counts_close(&t);
	if (!status && q->pid)
		keep_process(q, r);
	return status;
}

/* without running counters: all threads stop while counters are copied */
static int ask_frozen(struct run_query *q, struct run_events *r, struct err *e)
{
	pid_t *pid = NEW_ARRAY(pid_t, q->process.n);
	char copy[] = "/tmp/tally-query-XXXXXX";
	int fd = mkstemp(copy), status;

	for (size_t i = 0; i < q->process.n; i++)
		pid[i] = q->process.at[i].pid;
	if (fd < 0) {
		status = err_set(e, ERR_MACHINE, "%s: %s", copy,
				 strerror(errno));
	} else {
		close(fd);
		status = freeze_copy(q->path, pid, q->process.n, copy, e) ||
					 ask_copy(q, copy, r, e) ?
				 -1 : 0;
		unlink(copy);
	}
	mem_free(pid);
	return status;
}

int run_query_ask(struct run_query *q, struct run_events *r, struct err *e)
{
	*r = (struct run_events){.list = &q->list, .shown = q->list.n};
	if (refresh(q, e))
		return -1;
	if (!q->profile.nevent)
		return ask_frozen(q, r, e);
	for (size_t i = 0; i < q->process.n; i++)
		if (ask_process(q, &q->process.at[i], r, e)) {
			run_events_free(r);
			return -1;
		}
	run_events_add_phases(r);
	return 0;
}
