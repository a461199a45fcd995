/*
 * embed: files of ours that are inside of the program, in their own language.
 */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/* a file's bytes and a zero */
#define EMBED(symbol, file) \
	__asm__(".pushsection .rodata\n" \
		".global " #symbol "\n" \
		".hidden " #symbol "\n" \
		#symbol ":\n" \
		".incbin \"" file "\"\n" \
		".byte 0\n" \
		".popsection"); \
	extern const char symbol[] __attribute__((visibility("hidden")))

#endif
