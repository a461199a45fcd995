/*
 * audit: the module that ld.so loads beside the program (LD_AUDIT, see
 * rtld-audit(7)) and asks before it opens a library. It answers with the
 * rewritten file out of the cache, and puts the original's name back where
 * the program could see it.
 *
 * There is no libc here and no thread-local memory; ld.so calls under its own
 * lock, so that static buffers do. Whatever fails, the answer is the original
 * file. No symbol binding is audited: calls cost what they cost without us.
 */
#include "runtime/altstack.h"
#include "runtime/counting.h"
#include "abi/libs.h"
#include "runtime/loaded.h"

/* arguments of la_objsearch() and la_activity() */
enum {
	SEARCH_ORIGINAL = 1, /* LA_SER_ORIG */
	ACTIVITY_OVER = 0,   /* LA_ACT_CONSISTENT */
};

/* what the launcher said */
static struct counts launcher;

/* the linker's: the module's first byte, and the end of its code */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

#define EXPORT __attribute__((visibility("default"), used))

/* the name that was asked for and the one answered, for la_objopen() */
static char asked[RECORD_NAME_MAX], answer[2 * RECORD_NAME_MAX + 64];
static char unlinked[RECORD_NAME_MAX]; /* a name translated back */
static char sought[RECORD_NAME_MAX];   /* see note_sought() */
static union {
	struct record r;
	char bytes[RECORD_MAX + 1];
} record;

static const char *field(enum launch_env_field f)
{
	return launcher.launch_env.field[f];
}

/*
 * A name below the cache (from $ORIGIN of a rewritten object) without CACHE
 * and the entry's name, or NULL if it lies elsewhere.
 */
static const char *outside(const char *path)
{
	const char *rest = str_after(path, field(LAUNCH_ENV_CACHE));

	if (!rest || *rest != '/')
		return NULL;
	while (*rest == '/')
		rest++;
	while (*rest && *rest != '/')
		rest++;
	return *rest ? rest : NULL;
}

/* libraries of that name are to be rewritten */
static _Bool wanted(const char *path)
{
	return libs_have(field(LAUNCH_ENV_LIBS), str_base(path));
}

/* what cannot be rewritten must not run */
static _Bool strict(void)
{
	return launch_env_has(&launcher.launch_env, 's');
}

static uint64_t key(void)
{
	uint64_t k = 0;

	for (const char *s = field(LAUNCH_ENV_KEY); *s; s++)
		k = k << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return k;
}

/* `answer` becomes CACHE/i-HEX, and the record there is read */
static _Bool find_record(const struct file_id *id, struct text *t)
{
	char link[RECORD_ID_LEN + 1];
	size_t folder;
	long n;

	record_id(link, id, key());
	t->n = 0;
	text_add(t, field(LAUNCH_ENV_CACHE));
	text_add(t, "/");
	text_add(t, link);
	folder = t->n;
	text_add(t, "/record");
	n = sys_read_file(answer, &record, sizeof record - 1);
	t->n = folder;
	return n > 0 && record_valid(&record.r, (uint64_t)n) &&
	       record.r.key == key() &&
	       record.r.from.dev == id->dev &&
	       record_same_file(&record.r.from, id);
}

/* `answer` becomes the rewritten file's name; false if it is not usable */
static _Bool find_made(const char *name, struct text *t)
{
	size_t folder = t->n;
	struct file_id made;

	text_add(t, *name ? name : record_path(&record.r));
	if (!t->full && sys_file_id(answer, &made) &&
	    record_same_file(&made, &record.r.made))
		return 1;
	t->n = folder;
	return 0;
}

/*
 * The rewritten file's name for the file at path, or NULL. `name`: what its
 * name must be below the entry, or "" if any will do.
 */
static const char *rewritten(const char *path, const char *name)
{
	struct text t = {.at = answer, .max = sizeof answer};
	struct file_id id;
	_Bool refused = 0;

	if (!sys_file_id(path, &id))
		return NULL;
	for (unsigned try = 0; try < 2; try++) {
		if (find_record(&id, &t)) {
			/* with `strict`, tally says why and we end here */
			if (record.r.verdict == VERDICT_LEFT && !strict())
				return NULL;
			if (find_made(name, &t))
				return answer;
		}
		if (!try)
			refused = ask_tally(&launcher.launch_env, path, name) ==
				  ASK_REFUSED;
	}
	if (refused && strict())
		arch_call(SYS_EXIT_GROUP, ASK_STRICT_STATUS, 0, 0, 0, 0);
	return NULL;
}

/* path as the program gave it, from the root: into t */
static _Bool absolute(struct text *t, const char *path)
{
	long n;

	if (*path != '/') {
		n = arch_call(SYS_GETCWD, (long)t->at, (long)t->max, 0, 0, 0);
		if (n < 2 || t->at[0] != '/')
			return 0;
		t->n = (size_t)n - 1;
		text_add(t, "/");
	}
	text_add(t, path);
	return !t->full;
}

/* the folder that $ORIGIN means for an object: into t */
static _Bool origin(struct text *t, const struct link_map *loader)
{
	const char *name = loader && loader->l_name && *loader->l_name
				   ? loader->l_name
				   : field(LAUNCH_ENV_EXE);

	if (!absolute(t, name))
		return 0;
	t->n = (size_t)(str_base(t->at) - t->at);
	if (t->n > 1)
		t->n--;
	t->at[t->n] = 0;
	return 1;
}

/* the length of "$ORIGIN" or "${ORIGIN}" at s, or 0 */
static size_t origin_token(const char *s)
{
	const char *rest = str_after(s, "${ORIGIN}");

	if (!rest) {
		rest = str_after(s, "$ORIGIN");
		if (rest && (*rest == '_' || (*rest >= '0' && *rest <= '9') ||
			     ((unsigned)*rest | 32) - 'a' < 26))
			rest = NULL;
	}
	return rest ? (size_t)(rest - s) : 0;
}

/* a name given to dlopen() with $ORIGIN in it, spelled out */
static const char *spell_out(const char *name, const struct link_map *loader)
{
	static char folder[RECORD_NAME_MAX];
	struct text t = {.at = unlinked, .max = sizeof unlinked};

	for (size_t n; *name; name += n ? n : 1) {
		struct text o = {.at = folder, .max = sizeof folder};

		n = *name == '$' ? origin_token(name) : 0;
		if (n && origin(&o, loader))
			text_add(&t, folder);
		else
			text_add_n(&t, name, n ? n : 1);
	}
	return t.full ? NULL : unlinked;
}

static _Bool has(const char *s, char c)
{
	for (; *s; s++)
		if (*s == c)
			return 1;
	return 0;
}

/* a file by its very name, as given to dlopen() or found in DT_NEEDED */
static const char *by_name(const char *path)
{
	static char name[RECORD_NAME_MAX];
	struct text t = {.at = name, .max = sizeof name};
	struct text given = {.at = asked, .max = sizeof asked};
	const char *found;

	asked[0] = 0;
	if (!wanted(path) || !absolute(&t, path))
		return path;
	found = rewritten(path, name);
	if (!found)
		return path;
	text_add(&given, path);
	return given.full ? path : found;
}

/* the launcher started this program, and we know what it said */
static _Bool active;

/* what ld.so calls, see rtld-audit(7) */
EXPORT unsigned la_version(unsigned version);
EXPORT const char *la_objsearch(const char *name, uintptr_t *cookie,
				unsigned flag);
EXPORT unsigned la_objopen(struct link_map *map, long space, uintptr_t *cookie);
EXPORT unsigned la_objclose(uintptr_t *cookie);
EXPORT void la_activity(uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version)
{
	return version;
}

/* a candidate of ld.so's search, as ld.so calls it, for which `answer` was
   given; or "" */
static void note_sought(const char *name)
{
	struct text t = {.at = sought, .max = sizeof sought};

	sought[0] = 0;
	text_add(&t, name);
	if (t.full)
		sought[0] = 0;
}

const char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	const char *given = name, *back, *found;

	if (!active)
		return name;
	back = outside(name);
	if (back)
		name = back;
	if (flag == SEARCH_ORIGINAL) {
		if (!has(name, '/'))
			return name;
		if (has(name, '$'))
			back = spell_out(name, (struct link_map *)*cookie);
		return by_name(has(name, '$') && back ? back : name);
	}
	if (!wanted(name))
		return name;
	found = rewritten(name, "");
	note_sought(found ? given : "");
	return found ? found : name;
}

/*
 * The file that an object was loaded from. One that was searched for keeps the
 * name that it was searched by, whatever we answered.
 */
static const char *file_of(const struct link_map *map)
{
	return *sought && str_equal(map->l_name, sought) ? answer :
							   map->l_name;
}

/* `name`, which is shorter, takes the place of an object's name */
static void put_name(struct link_map *map, const char *name)
{
	size_t n = str_len(name);

	if (n <= str_len(map->l_name))
		for (size_t i = 0; i <= n; i++)
			map->l_name[i] = name[i];
}

/* an address in the dynamic section */
static uintptr_t dynamic(const struct link_map *map, int64_t tag)
{
	return dynamic_address(map->l_ld, map->l_addr, tag);
}

/*
 * The address of a symbol in ld.so. We are not linked with it: that would
 * make ld.so look for itself, in front of a user's own audit modules. Its
 * names lie behind its symbols.
 */
static uintptr_t loader_symbol(const struct link_map *map, const char *name)
{
	const struct elf_symbol *s = (void *)dynamic(map, DYNAMIC_SYMTAB);
	uintptr_t names = dynamic(map, DYNAMIC_STRTAB);
	uint64_t size = dynamic_number(map->l_ld, DYNAMIC_STRSZ);

	for (; s && (uintptr_t)(s + 1) <= names; s++)
		if (s->section && s->name < size &&
		    str_equal((char *)names + s->name, name))
			return map->l_addr + s->value;
	return 0;
}

/* what a rewritten object says of itself, or NULL */
static const struct object_header *object_header(const struct link_map *map)
{
	const struct object_header *p = (void *)dynamic(map, LAUNCH_ENV_TAG);

	return p && p->magic == OBJECT_HEADER_MAGIC ? p : NULL;
}

/*
 * An object with an object_header gets the address of the launch_env, and its
 * counters are kept, unless it returns false. `file`: what was loaded.
 */
static _Bool hand_over(const struct link_map *map, const char *file)
{
	const struct object_header *p = object_header(map);
	struct counting *c = launcher.launch_env.counting;
	_Bool is_c = libs_is_c(str_base(map->l_name)), kept = 1;

	if (p) {
		*(struct launch_env **)at_distance(p, p->word) =
			&launcher.launch_env;
		altstack_begin(&launcher.launch_env, p);
	}
	if (!c)
		return 1;
	if (p)
		client_bind(c, p);
	if (p && p->ncounter)
		kept = image_opened(c, p, file);
	else if (!p && c->image.n && is_c)
		live_profile_trouble(c, TROUBLE_UNSEEN);
	if (p && is_c)
		signals_begin(c);
	return kept;
}

/* the file's name from the root, links followed, or as it is: into t */
static void resolve(struct text *t, const char *path)
{
	char link[32] = "/proc/self/fd/";
	long fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)path,
			    SYS_O_PATH | SYS_O_CLOEXEC, 0, 0);
	long n = -1;

	if (fd >= 0) {
		str_number(link + str_len(link), fd);
		n = arch_call(SYS_READLINKAT, SYS_AT_FDCWD, (long)link,
			      (long)t->at, (long)t->max - 1, 0);
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	}
	if (n > 0 && t->at[0] == '/')
		t->at[t->n = (size_t)n] = 0;
	else if (!absolute(t, path))
		text_add(t, path);
}

/* why the file at path was not rewritten, or "": `answer` is lost */
static const char *refusal(const char *path)
{
	struct text t = {.at = answer, .max = sizeof answer};
	const char *reason, *rest;
	struct file_id id;

	if (!sys_file_id(path, &id) || !find_record(&id, &t) ||
	    record.r.verdict != VERDICT_LEFT)
		return "";
	reason = record_path(&record.r) + record.r.path_len + 1;
	/* errors name the file */
	rest = str_after(reason, record_path(&record.r));
	rest = rest ? str_after(rest, ": ") : NULL;
	return rest ? rest : reason;
}

/*
 * Reports an object of which nothing is counted, or kept, but for the loader,
 * which is in every program. `name`: as the program sees it. What was
 * asked and answered for it is not needed any more.
 */
static void report_uncounted(const struct link_map *map, const char *name,
			     _Bool is_program, _Bool kept)
{
	static char path[RECORD_NAME_MAX];
	struct text t = {.at = path, .max = sizeof path};
	const struct object_header *p = object_header(map);
	struct counting *c = launcher.launch_env.counting;
	struct file_id id;

	if (!c || c->confined ||
	    (p && kept && !(p->flags & OBJECT_HEADER_LEFT_OUT)) ||
	    libs_is_loader(str_base(name)) || !sys_file_id(name, &id))
		return;
	asked[0] = sought[0] = 0;
	resolve(&t, name);
	if (!kept)
		image_uncounted(c, LEFT_REFUSED, path,
				"there was no room on disk for its counts");
	else if (p || (!is_program && !wanted(name)))
		image_uncounted(c, LEFT_OUT, path, "");
	else
		image_uncounted(c, LEFT_REFUSED, path, refusal(path));
}

/*
 * ld.so shows us the program and itself before it looks for any library, and
 * after it has read LD_AUDIT to its end: time to clean the stack.
 */
static void begin(const struct link_map *map)
{
	struct counting *c = counting_here();
	static const struct link_map *program;
	static _Bool tried;
	uintptr_t at;
	_Bool kept;

	if (!program) {
		program = map;
		return;
	}
	if (tried)
		return;
	tried = 1;
	at = loader_symbol(map, "__libc_stack_end");
	active = stack_clean(at ? *(uintptr_t **)at : environ_stack(),
			     &launcher);
	launcher.launch_env.on_call = altstack_on_call;
	launcher.launch_env.after_call = altstack_after_call;
	launcher.launch_env.on_jump = counting_on_jump;
	launcher.launch_env.on_indirect = pairs_on_indirect;
	launcher.launch_env.on_resume = context_resume;
	launcher.launch_env.on_calls = calls_asked;
	launcher.launch_env.on_trace = trace_asked;
	launcher.launch_env.on_syscall = trace_syscall;
	if (!active)
		return;
	c->own_code = (uintptr_t)__ehdr_start;
	c->own_code_end = (uintptr_t)etext;
	counting_begin(c, &launcher.launch_env);
	kept = hand_over(program, field(LAUNCH_ENV_COPY));
	report_uncounted(program, field(LAUNCH_ENV_EXE), 1, kept);
}

unsigned la_objopen(struct link_map *map, long space, uintptr_t *cookie)
{
	const char *back;
	_Bool kept;

	(void)space;
	(void)cookie;
	if (!active) {
		begin(map);
		return 0;
	}
	kept = hand_over(map, file_of(map));
	back = outside(map->l_name);
	if (*asked && str_equal(map->l_name, answer))
		put_name(map, asked);
	else if (back)
		put_name(map, back);
	report_uncounted(map, map->l_name, 0, kept);
	return 0;
}

unsigned la_objclose(uintptr_t *cookie)
{
	const struct object_header *p =
		object_header((struct link_map *)*cookie);

	if (p && launcher.launch_env.counting)
		image_closed(launcher.launch_env.counting, p);
	return 0;
}

void la_activity(uintptr_t *cookie, unsigned flag)
{
	(void)cookie;
	if (flag == ACTIVITY_OVER && launcher.launch_env.counting)
		images_settled(launcher.launch_env.counting);
}
