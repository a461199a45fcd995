/*
 * search: binary searches, whose comparisons are looked at twice: flags are
 * live from one jump to the next, where code is inserted. Prints where words are
 * found, and in how many steps.
 */
#include <stdio.h>
#include <string.h>

static const char *const words[] = {
	"BEGIN", "END", "break", "case", "do", "else", "for", "if", "int",
	"return", "while",
};

__attribute__((noinline)) static int find(const char *w, int *steps)
{
	int low = 0, high = (int)(sizeof words / sizeof *words) - 1;

	while (low <= high) {
		int mid = (low + high) / 2;
		int c = *w - words[mid][0];

		++*steps;
		if (!c)
			c = strcmp(w, words[mid]);
		if (c < 0)
			high = mid - 1;
		else if (c > 0)
			low = mid + 1;
		else
			return mid;
	}
	return -1;
}

int main(int argc, char **argv)
{
	int steps = 0;

	for (int i = 1; i < argc; i++)
		printf("%d ", find(argv[i], &steps));
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		printf("%d ", find(words[i], &steps));
	printf("%d\n", steps);
	return 0;
}
