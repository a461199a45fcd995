/* task: see task.h. */
#include "base/task.h"

void task_begin(struct task *e, void *(*work)(void *), void *arg, bool worth)
{
	e->running = worth && !pthread_create(&e->thread, NULL, work, arg);
	if (!e->running)
		work(arg);
}

void task_end(struct task *e)
{
	if (e->running)
		pthread_join(e->thread, NULL);
	e->running = false;
}
