/* closure: see closure.h, and ld.so(8). */
#include "launch/closure.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/debug.h"
#include "base/dict.h"

enum { CLOSURE_MAX = 4096 }; /* libraries; hostile files name each other */

/* an object whose needs are looked at, and the object that needs it */
struct object {
	const char *path;
	struct needs needs;
	uint32_t parent; /* itself for the program */
};

struct search {
	struct closure *c;
	const char *root;
	const struct machine *machine;
	struct ldcache cache;
	VEC(struct object) object;
	struct dict seen;  /* inodes that were taken */
	struct dict names; /* needed names that were looked for, hashed */
};

/* what an emulator opens for a path: the file below root, if there is one */
static bool rooted(const struct search *s, const char *path, char *out)
{
	struct stat st;

	if (*s->root && *path == '/' &&
	    snprintf(out, PATH_MAX, "%s%s", s->root, path) < PATH_MAX &&
	    !stat(out, &st))
		return S_ISREG(st.st_mode);
	return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX &&
	       !stat(out, &st) && S_ISREG(st.st_mode);
}

/* takes the file at path, found for object `parent`; false if it is none */
static bool take(struct search *s, uint32_t parent, const char *path)
{
	char file[PATH_MAX];
	struct object o = {.parent = parent};
	struct stat st;
	struct err e;

	if (!rooted(s, path, file) || stat(file, &st))
		return false;
	if (dict_get(&s->seen, st.st_ino ^ st.st_dev << 40) != DICT_NONE)
		return true;
	if (s->object.n >= CLOSURE_MAX || needs_read(&o.needs, file, &e))
		return false;
	if (o.needs.machine != s->machine) {
		needs_free(&o.needs);
		return false;
	}
	dict_put(&s->seen, st.st_ino ^ st.st_dev << 40, 0);
	debug(DEBUG_LAUNCH, "%s: will be loaded, for %s", path,
	      s->object.at[parent].path);
	/* $ORIGIN is what ld.so takes it for, which knows no root */
	o.path = arena_string(&s->c->arena, path, strlen(path));
	vec_push(&s->object, o);
	s->c->tls += o.needs.tls;
	if (o.needs.tls_align > s->c->tls_align)
		s->c->tls_align = o.needs.tls_align;
	vec_push(&s->c->path,
		 arena_string(&s->c->arena, file, strlen(file)));
	return true;
}

/* the value of a token "$NAME" or "${NAME}" at *s, which moves behind it */
static const char *token(const char **s, const char *name, const char *value)
{
	size_t n = strlen(name);
	const char *at = *s + 1;

	if (*at == '{' && !strncmp(at + 1, name, n) && at[n + 1] == '}')
		*s = at + n + 2;
	else if (!strncmp(at, name, n))
		*s = at + n;
	else
		return NULL;
	return value;
}

/* expands [text, text + n) for an object into out; false if too long */
static bool expand(const struct search *s, const struct object *o,
		   const char *text, size_t n, char *out)
{
	const char *end = text + n, *slash = strrchr(o->path, '/');
	char origin[PATH_MAX], lib[64];
	size_t len = 0;

	snprintf(origin, sizeof origin, "%.*s",
		 slash ? (int)(slash - o->path) : 1, slash ? o->path : ".");
	snprintf(lib, sizeof lib, "lib/%s", s->machine->triplet);
	while (text < end) {
		const char *value = NULL;
		size_t add;

		if (*text == '$' &&
		    !(value = token(&text, "ORIGIN", origin)) &&
		    !(value = token(&text, "LIB", lib)))
			value = token(&text, "PLATFORM", s->machine->platform);
		add = value ? strlen(value) : 1;
		if (len + add + 1 >= PATH_MAX)
			return false;
		memcpy(out + len, value ? value : text, add);
		len += add;
		text += value ? 0 : 1;
	}
	out[len] = 0;
	return true;
}

/* looks for name in a folder and its parts for newer processors */
static bool in_folder(struct search *s, uint32_t o, const char *folder,
		      const char *name)
{
	char path[2 * PATH_MAX];
	bool found = false;
	glob_t g;

	snprintf(path, sizeof path, "%s%s/glibc-hwcaps/*/%s", s->root, folder,
		 name);
	if (!strpbrk(name, "*?[") && !glob(path, GLOB_NOSORT, NULL, &g)) {
		for (size_t i = 0; i < g.gl_pathc; i++)
			found |= take(s, o, g.gl_pathv[i] + strlen(s->root));
		globfree(&g);
	}
	snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", name);
	return take(s, o, path) || found;
}

/* looks in a list of folders that object `of` has */
static bool in_list(struct search *s, uint32_t o, uint32_t of,
		    const char *list, const char *separators, const char *name)
{
	char folder[PATH_MAX];

	while (*list) {
		size_t n = strcspn(list, separators);

		if (expand(s, &s->object.at[of], list, n, folder) &&
		    in_folder(s, o, folder, name))
			return true;
		list += n + (list[n] != 0);
	}
	return false;
}

/* RPATH of the object, of the one that loaded it, and so on to the program */
static bool in_rpaths(struct search *s, uint32_t o, const char *name)
{
	for (uint32_t of = o;; of = s->object.at[of].parent) {
		const struct needs *n = &s->object.at[of].needs;

		if (!*n->runpath &&
		    in_list(s, o, of, n->rpath, ":", name))
			return true;
		if (s->object.at[of].parent == of)
			return false;
	}
}

static bool in_cache(struct search *s, uint32_t o, const char *name)
{
	uint32_t i = 0;
	const char *path;
	bool found = false;

	while ((path = ldcache_next(&s->cache, name, s->machine->cache_flags,
				    &i)))
		found |= take(s, o, path);
	return found;
}

static bool in_system(struct search *s, uint32_t o, const char *name)
{
	static const char *const folders[] = {"/lib/%s", "/usr/lib/%s",
					      "/lib64", "/usr/lib64", "/lib",
					      "/usr/lib"};
	char folder[64];

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(folder, sizeof folder, folders[i],
			 s->machine->triplet);
		if (in_folder(s, o, folder, name))
			return true;
	}
	return false;
}

/* a number for a name; two names with one number only miss a library */
static uint64_t name_number(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return h;
}

/* finds what object o needs by that name */
static void find(struct search *s, uint32_t o, const char *name)
{
	const struct needs *n = &s->object.at[o].needs;
	const char *path = getenv("LD_LIBRARY_PATH");
	bool no_default = n->no_default, found;
	const char *runpath = n->runpath;
	char file[PATH_MAX];

	if (!*name || dict_get(&s->names, name_number(name)) != DICT_NONE)
		return;
	if (strchr(name, '/'))
		found = expand(s, &s->object.at[o], name, strlen(name),
			       file) && take(s, o, file);
	else
		found = (!*runpath && in_rpaths(s, o, name)) ||
			(path && in_list(s, o, 0, path, ":;", name)) ||
			in_list(s, o, o, runpath, ":", name) ||
			(!no_default && in_cache(s, o, name)) ||
			(!no_default && in_system(s, o, name));
	if (found) {
		dict_put(&s->names, name_number(name), 0);
	} else {
		debug(DEBUG_LAUNCH, "%s: not found, for %s", name,
		      s->object.at[o].path);
		vec_push(&s->c->missing, arena_string(&s->c->arena, name,
						      strlen(name)));
	}
}

/* LD_PRELOAD: names between blanks or colons */
static void find_preloads(struct search *s)
{
	const char *list = getenv("LD_PRELOAD");
	char *copy = list ? strdup(list) : NULL, *save = NULL;

	for (char *name = copy ? strtok_r(copy, " :", &save) : NULL; name;
	     name = strtok_r(NULL, " :", &save))
		find(s, 0, name);
	free(copy);
}

void closure_find(struct closure *c, const char *path, const struct needs *n,
		  const char *root)
{
	struct search s = {.c = c, .root = root, .machine = n->machine};
	struct object program = {.path = path, .needs = *n};
	char file[PATH_MAX];

	*c = (struct closure){0};
	if (!n->loads || needs_is_musl(n))
		return;
	snprintf(file, sizeof file, "%s/etc/ld.so.cache", root);
	ldcache_open(&s.cache, file);
	if (!s.cache.bytes)
		ldcache_open(&s.cache, "/etc/ld.so.cache");
	vec_push(&s.object, program);
	find_preloads(&s);
	for (uint32_t o = 0; o < s.object.n; o++)
		for (size_t i = 0; i < s.object.at[o].needs.needed.n; i++)
			find(&s, o, s.object.at[o].needs.needed.at[i]);
	for (size_t o = 1; o < s.object.n; o++)
		needs_free(&s.object.at[o].needs);
	vec_free(&s.object);
	dict_free(&s.seen);
	dict_free(&s.names);
	ldcache_close(&s.cache);
}

void closure_free(struct closure *c)
{
	vec_free(&c->path);
	vec_free(&c->missing);
	arena_free(&c->arena);
	*c = (struct closure){0};
}

/* ldcache: see closure.h, and glibc's sysdeps/generic/dl-cache.h. */

/* struct cache_file_new and struct file_entry_new */
enum { HEAD = 48, HEAD_N = 20, ENTRY = 24, ENTRY_KEY = 4, ENTRY_VALUE = 8 };

static const char magic[] = "glibc-ld.so.cache1.1";

static uint32_t word_at(const struct ldcache *l, size_t at)
{
	uint32_t w;

	memcpy(&w, l->bytes + at, sizeof w);
	return w;
}

/* the string at an offset, or NULL if it does not end in the file */
static const char *string_at(const struct ldcache *l, uint32_t at)
{
	if (at >= l->size || !memchr(l->bytes + at, 0, l->size - at))
		return NULL;
	return (const char *)l->bytes + at;
}

void ldcache_open(struct ldcache *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	*l = (struct ldcache){0};
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= HEAD)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	l->bytes = p;
	l->size = (size_t)st.st_size;
	l->n = word_at(l, HEAD_N);
	if (memcmp(l->bytes, magic, sizeof magic - 1) ||
	    l->n > (l->size - HEAD) / ENTRY)
		ldcache_close(l);
}

void ldcache_close(struct ldcache *l)
{
	if (l->bytes)
		munmap(l->bytes, l->size);
	*l = (struct ldcache){0};
}

const char *ldcache_next(const struct ldcache *l, const char *name,
			 uint32_t flags, uint32_t *i)
{
	while (*i < l->n) {
		size_t at = HEAD + (size_t)(*i)++ * ENTRY;
		const char *key;

		if (word_at(l, at) != flags)
			continue;
		key = string_at(l, word_at(l, at + ENTRY_KEY));
		if (key && !strcmp(key, name))
			return string_at(l, word_at(l, at + ENTRY_VALUE));
	}
	return NULL;
}
