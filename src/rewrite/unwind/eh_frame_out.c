/* eh_frame_out: see eh_frame_out.h. */
#include "rewrite/unwind/eh_frame_out.h"

enum { ENCODING = POINTER_PCREL | POINTER_SDATA4 };

const char *cie_can_write(const struct image *im, const struct cie *c)
{
	uint8_t encoding = c->personality_encoding;
	uint8_t base = encoding & POINTER_BASE;
	const struct reloc *r = image_reloc(im, c->personality_at);

	if (!c->whole || c->version > 3)
		return "its unwind entry has an unknown augmentation";
	for (const char *l = c->letters; *l; l++)
		if (strchr(l + 1, *l))
			return "its unwind entry has an unknown augmentation";
	if (encoding == POINTER_OMIT)
		return NULL;
	if (base != POINTER_ABSOLUTE && base != POINTER_PCREL)
		return "its personality routine has an unusual encoding";
	if (c->personality_at && r && !r->text)
		return "its personality routine is relocated";
	return NULL;
}

/* the address of the next byte */
static uint64_t here(const struct eh_frame_out *o)
{
	return o->base + o->out->n;
}

/* a pointer relative to its own place; 0 stays 0 */
static void put_pointer(struct eh_frame_out *o, uint64_t target)
{
	uint64_t v = target ? target - here(o) : 0;

	o->far |= (int64_t)v != (int32_t)v;
	buffer_uint(o->out, 4, v);
}

/* begins an entry; returns where, for entry_end() */
static size_t entry_begin(struct eh_frame_out *o)
{
	size_t start = o->out->n;

	buffer_uint(o->out, 4, 0);
	return start;
}

/* ends an entry: DW_CFA_nop up to a multiple of 4, and the length */
static void entry_end(struct eh_frame_out *o, size_t start)
{
	uint32_t size;

	buffer_align(o->out, 4);
	size = (uint32_t)(o->out->n - start - 4);
	memcpy(o->out->at + start, &size, 4);
}

/* the augmentation of the new CIE: the old one's letters, and an R */
static void new_letters(const struct cie *c, char *to)
{
	const char *from = c->letters;

	*to++ = 'z';
	if (*from)
		from++;
	if (!strchr(from, 'R'))
		*to++ = 'R';
	strcpy(to, from);
}

/* room for new_letters(); cie.letters has 15 at most */
enum { LETTERS = 18 };

/* appends to o->key all that the new CIE will say; returns where */
static size_t cie_key(struct eh_frame_out *o, const struct cie *c)
{
	size_t start = o->key.n;
	char letters[LETTERS];

	new_letters(c, letters);
	buffer_bytes(&o->key, letters, strlen(letters) + 1);
	buffer_uint(&o->key, 1, c->version);
	buffer_uint(&o->key, 8, c->code_align);
	buffer_uint(&o->key, 8, (uint64_t)c->data_align);
	buffer_uint(&o->key, 8, c->return_reg);
	buffer_uint(&o->key, 1, c->personality_encoding & POINTER_INDIRECT);
	buffer_uint(&o->key, 8, c->personality);
	buffer_bytes(&o->key, c->program.p, c->program.n);
	return start;
}

/* FNV-1a */
static uint64_t hash(const uint8_t *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ *p++) * 0x100000001b3u;
	return h;
}

/* one letter's augmentation data */
static void put_augmentation(struct eh_frame_out *o, const struct cie *c,
			     char letter)
{
	uint8_t indirect = c->personality_encoding & POINTER_INDIRECT;

	if (letter == 'R' || letter == 'L') {
		buffer_uint(o->out, 1, ENCODING);
	} else if (letter == 'P') {
		buffer_uint(o->out, 1, ENCODING | indirect);
		put_pointer(o, c->personality);
	}
}

/* writes a CIE; returns its address */
static uint64_t cie_write(struct eh_frame_out *o, const struct cie *c)
{
	size_t start = entry_begin(o), size;
	char letters[LETTERS];

	new_letters(c, letters);
	buffer_uint(o->out, 4, 0);
	buffer_uint(o->out, 1, c->version);
	buffer_bytes(o->out, letters, strlen(letters) + 1);
	buffer_uleb(o->out, c->code_align);
	buffer_sleb(o->out, c->data_align);
	if (c->version == 1)
		buffer_uint(o->out, 1, c->return_reg);
	else
		buffer_uleb(o->out, c->return_reg);
	size = o->out->n;
	buffer_uint(o->out, 1, 0); /* few letters: one byte holds the size */
	for (const char *l = letters; *l; l++)
		put_augmentation(o, c, *l);
	o->out->at[size] = (uint8_t)(o->out->n - size - 1);
	buffer_bytes(o->out, c->program.p, c->program.n);
	entry_end(o, start);
	return o->base + start;
}

/* the index of a new CIE that says what c says */
static uint32_t cie_find(struct eh_frame_out *o, const struct cie *c)
{
	size_t start = cie_key(o, c), size = o->key.n - start;
	uint64_t h = hash(o->key.at + start, size);
	uint32_t i = dict_get(&o->cie_like, h);
	struct cie_out new = {start, size, 0};

	if (i != DICT_NONE && o->cie.at[i].key_size == size &&
	    !memcmp(o->key.at + o->cie.at[i].key, o->key.at + start, size)) {
		o->key.n = start;
		return i;
	}
	new.addr = cie_write(o, c);
	dict_put(&o->cie_like, h, (uint32_t)o->cie.n);
	vec_push(&o->cie, new);
	return (uint32_t)o->cie.n - 1;
}

/* the address of the new CIE for the FDE f */
static bool cie_for(struct eh_frame_out *o, const struct fde *f,
		    struct cie *c, uint64_t *addr)
{
	struct bytes program;
	uint32_t i;

	if (!fde_program(o->cfi.im, f, c, &program))
		return false;
	i = dict_get(&o->cie_of, c->addr);
	if (i == DICT_NONE) {
		if (cie_can_write(o->cfi.im, c))
			return false;
		i = cie_find(o, c);
		dict_put(&o->cie_of, c->addr, i);
	}
	*addr = o->cie.at[i].addr;
	return true;
}

uint64_t fde_write(struct eh_frame_out *o, const struct fde *f,
		   const struct place *p, uint64_t lsda)
{
	const struct moved *mv = p ? p->moved : NULL;
	struct cie c;
	uint64_t cie, size = mv ? mv->end - mv->start : f->end - f->start;
	bool has_lsda, far = o->far;
	size_t start;

	if (!cie_for(o, f, &c, &cie))
		return 0;
	start = entry_begin(o);
	buffer_uint(o->out, 4, here(o) - cie);
	put_pointer(o, mv ? mv->start : f->start);
	o->far |= size > INT32_MAX;
	buffer_uint(o->out, 4, size);
	has_lsda = strchr(c.letters, 'L');
	buffer_uint(o->out, 1, has_lsda ? 4 : 0);
	if (has_lsda)
		put_pointer(o, lsda);
	if (!cfi_write(&o->cfi, o->out, f, p)) {
		o->out->n = start;
		o->far = far;
		return 0;
	}
	entry_end(o, start);
	return o->base + start;
}

void eh_frame_out_free(struct eh_frame_out *o)
{
	cfi_out_free(&o->cfi);
	vec_free(&o->key);
	vec_free(&o->cie);
	dict_free(&o->cie_of);
	dict_free(&o->cie_like);
}
