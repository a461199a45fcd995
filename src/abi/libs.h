/*
 * libs: which libraries are to be rewritten, by name. The list is "all",
 * "none" or NAME,NAME..; NAME is a file name with or without what follows a
 * dot: libz, libz.so and libz.so.1 all mean libz.so.1.
 */
#ifndef ABI_LIBS_H
#define ABI_LIBS_H

/* what follows `prefix` in s, or a null pointer */
static inline const char *libs_after(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return 0;
	return s;
}

static inline _Bool libs_are(const char *libs, const char *word)
{
	const char *end = libs_after(libs, word);

	return end && !*end;
}

/* the loader itself is never rewritten: it runs before everything */
static inline _Bool libs_is_loader(const char *base)
{
	return libs_after(base, "ld-linux") || libs_after(base, "ld-musl") ||
	       libs_after(base, "ld.so") || libs_after(base, "ld-2.");
}

/* the C library, which makes threads and processes */
static inline _Bool libs_is_c(const char *base)
{
	return libs_after(base, "libc.so") || libs_after(base, "libc-2.") ||
	       libs_after(base, "libpthread");
}

/* the list has the library of that file name (without folders) */
static inline _Bool libs_have(const char *libs, const char *base)
{
	if (libs_is_loader(base) || libs_are(libs, "none"))
		return 0;
	if (libs_are(libs, "all"))
		return 1;
	while (*libs) {
		const char *b = base;

		while (*libs && *libs != ',' && *libs == *b)
			libs++, b++;
		if ((!*libs || *libs == ',') && b != base && (!*b || *b == '.'))
			return 1;
		while (*libs && *libs++ != ',')
			;
	}
	return 0;
}

#endif
