/*
 * x64 save: room for inserted code.
 *
 *	lea -depth(%rsp), %rsp		leaf procedures own the 128 bytes
 *	mov %reg, 8*i(%rsp)		below the stack pointer: they are
 *					stepped over, without changing flags
 *	xchg %rax, %f; lahf; seto %al; xchg %rax, %f
 *
 * puts the flags in register f: lahf has all but overflow, seto that. On the
 * way back adding 127 to al overflows if it was 1, and sahf leaves overflow
 * alone. pushf and popf would do it too, but popf takes some twenty cycles.
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum { RED_ZONE = 128 };

/* code that is written, or only measured if out is NULL */
struct writer {
	uint8_t *out;
	unsigned n;
};

static void put(struct writer *w, unsigned byte)
{
	if (w->out)
		w->out[w->n] = (uint8_t)byte;
	w->n++;
}

static void put_all(struct writer *w, const uint8_t *bytes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(w, bytes[i]);
}

/* lea by(%rsp), %rsp */
static void put_step(struct writer *w, int32_t by)
{
	static const uint8_t lea[4] = {0x48, 0x8d, 0xa4, 0x24};

	put_all(w, lea, sizeof lea);
	for (unsigned i = 0; i < 4; i++)
		put(w, (uint32_t)by >> 8 * i & 0xff);
}

/* mov between register r and 8*i(%rsp); op says which way */
static void put_slot(struct writer *w, unsigned op, unsigned r, unsigned i)
{
	put(w, 0x48 | r >> 3 << 2);
	put(w, op);
	put(w, 0x44 | (r & 7) << 3);
	put(w, 0x24);
	put(w, 8 * i);
}

/* xchg %rax, %r; nothing if that is rax */
static void put_exchange(struct writer *w, unsigned r)
{
	if (r == RAX)
		return;
	put(w, 0x48 | r >> 3);
	put(w, 0x90 | (r & 7));
}

unsigned x64_save_depth(const struct move_saved *s)
{
	return s->nreg ? RED_ZONE + 8 * s->nreg : 0;
}

unsigned x64_save(const struct move_saved *s, uint8_t *out)
{
	static const uint8_t flags[4] = {0x9f, 0x0f, 0x90, 0xc0};
	struct writer w = {.out = out};

	if (s->nreg)
		put_step(&w, -(int32_t)x64_save_depth(s));
	for (unsigned i = 0; i < s->nreg; i++)
		put_slot(&w, 0x89, s->reg[i], i);
	if (s->flags) {
		put_exchange(&w, s->flags_reg);
		put_all(&w, flags, sizeof flags);
		put_exchange(&w, s->flags_reg);
	}
	return w.n;
}

unsigned x64_restore(const struct move_saved *s, uint8_t *out)
{
	static const uint8_t flags[3] = {0x04, 0x7f, 0x9e};
	struct writer w = {.out = out};

	if (s->flags) {
		put_exchange(&w, s->flags_reg);
		put_all(&w, flags, sizeof flags);
		put_exchange(&w, s->flags_reg);
	}
	for (unsigned i = 0; i < s->nreg; i++)
		put_slot(&w, 0x8b, s->reg[i], i);
	if (s->nreg)
		put_step(&w, (int32_t)x64_save_depth(s));
	return w.n;
}
