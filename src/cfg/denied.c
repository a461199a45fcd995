/*
 * denied: files whose code has to stay where it is, as their runtimes know its
 * addresses; told by marks that languages leave.
 */
#include "base/share.h"
#include "cfg/build.h"

/* some symbol starts with prefix */
static bool denied_symbol(const struct image *im, const char *prefix)
{
	for (size_t i = 0; i < im->nsymbol; i++)
		if (!strncmp(im->symbol[i].name, prefix, strlen(prefix)))
			return true;
	return false;
}

/* languages that leave a mark, and one runtime */
enum mark { MARK_GO, MARK_OCAML, MARK_HASKELL, MARK_V8, MARKS };

/*
 * Texts that are in files of theirs. (In two parts, so that they are not in
 * our own.)
 */
static const struct {
	char first;
	const char *rest;
} mark_text[MARKS] = {
	[MARK_GO] = {'\xff', " Go buildinf:"},
	[MARK_OCAML] = {'O', "CAMLRUNPARAM"},
	[MARK_HASKELL] = {'g', "hc-prim"},
	[MARK_V8] = {'I', "nterpreterEntryTrampoline"},
};

/* a search for all of them */
struct marks {
	const struct image *im;
	bool found[MARKS];
};

/* share_items(): searches the whole file for some of the texts */
static void find_marks(void *arg, size_t from, size_t end)
{
	struct marks *m = arg;
	const uint8_t *start = m->im->bytes, *stop = start + m->im->size;

	for (size_t i = from; i < end; i++) {
		const char *rest = mark_text[i].rest;
		const uint8_t *at = start;
		size_t n = strlen(rest);

		while (!m->found[i] &&
		       (at = memmem(at, (size_t)(stop - at), rest, n))) {
			m->found[i] = at > start &&
				      at[-1] == (uint8_t)mark_text[i].first;
			at += n;
		}
	}
}

const char *denied_find(const struct image *im, const char **pinned)
{
	enum { LEAST = 1 << 20 }; /* bytes; fewer are not worth a thread */
	struct marks m = {.im = im};

	share_items(find_marks, &m, MARKS, im->size < LEAST ? MARKS + 1 : 0);
	*pinned = m.found[MARK_V8] ?
		"V8: its runtime keys tables on return addresses" : NULL;
	if (m.found[MARK_GO] || image_section(im, ".gopclntab") ||
	    image_section(im, ".note.go.buildid") ||
	    image_section(im, ".go.buildinfo"))
		return "Go: its runtime keys tables on return addresses";
	if (m.found[MARK_OCAML] || denied_symbol(im, "caml_frametable") ||
	    denied_symbol(im, "caml_system__frametable"))
		return "OCaml: its runtime keys tables on return addresses";
	if (m.found[MARK_HASKELL] || denied_symbol(im, "stg_ap_v_info") ||
	    denied_symbol(im, "stg_upd_frame_info"))
		return "Haskell: data lies next to code";
	return NULL;
}
