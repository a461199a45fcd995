/* spin: some milliseconds of work, then nothing. */
#include <time.h>

int main(void)
{
	struct timespec t;
	long start;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	start = t.tv_nsec;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_nsec - start < 4000000 && t.tv_sec == 0);
	return 0;
}
