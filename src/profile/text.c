/* text: see text.h. */
#include "profile/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_LARGEST = 64 << 20 }; /* larger files are no source */

static void index_lines(struct text_file *f, size_t n)
{
	size_t start = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && f->bytes[i] != '\n')
			continue;
		f->bytes[i] = '\0';
		vec_push(&f->line, (uint32_t)start);
		start = i + 1;
	}
}

/* debug information may name anything: a pipe, a device */
static FILE *open_regular(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *from = NULL;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		from = fdopen(fd, "r");
	if (fd >= 0 && !from)
		close(fd);
	return from;
}

static void read_file(struct text_file *f, const char *name)
{
	FILE *from = open_regular(name);
	size_t n = 0, cap = 0;

	if (!from)
		return;
	do {
		f->bytes = mem_grow(f->bytes, n + 65536 + 1, &cap, 1);
		n += fread(f->bytes + n, 1, 65536, from);
	} while (!feof(from) && !ferror(from) && n < TEXT_LARGEST);
	index_lines(f, n);
	fclose(from);
}

const char *text_line(struct texts *t, const char *file, uint32_t number)
{
	uint32_t i = intern(&t->name, file);
	struct text_file *f;

	if (i == t->file.n) {
		struct text_file none = {0};

		vec_push(&t->file, none);
		read_file(&t->file.at[i], file);
	}
	f = &t->file.at[i];
	return number && number <= f->line.n ? f->bytes + f->line.at[number - 1]
					     : NULL;
}

void texts_free(struct texts *t)
{
	for (size_t i = 0; i < t->file.n; i++) {
		mem_free(t->file.at[i].bytes);
		vec_free(&t->file.at[i].line);
	}
	vec_free(&t->file);
	intern_free(&t->name);
}
