/*
 * client: the functions of tally.h, which go on to those that the runtime puts
 * into a table when it loads the object that this is linked to
 * (abi/client.h). There is no table where nothing is counted.
 *
 * A note leads to it, which neither strip nor a lack of section headers takes
 * away. It also says where the code of these functions is, whose instructions
 * are no events.
 */
#include "tally.h"

#include "abi/client.h"

/* all code of this file lies in one section, between two labels */
#define CODE ".text.tally_client"
__asm__(".pushsection " CODE ",\"ax\",%progbits\n"
	".hidden tally_client_code\n"
	".globl tally_client_code\n"
	"tally_client_code:\n"
	".subsection 1\n" /* behind all else of the section */
	".hidden tally_client_code_end\n"
	".globl tally_client_code_end\n"
	"tally_client_code_end:\n"
	".popsection\n"
	".pushsection .note.tally-client,\"a\",%note\n"
	".balign 4\n"
	".long 2f - 1f, 4f - 3f, 1\n" /* CLIENT_NOTE_TYPE */
	"1: .asciz \"tally-client\"\n"       /* CLIENT_NOTE */
	"2: .balign 4\n"
	"3: .long tally_client - .\n" /* struct client_note */
	".long tally_client_code - .\n"
	".long tally_client_code_end - .\n"
	"4: .balign 4\n"
	".popsection\n");

#define EXPORT __attribute__((section(CODE), visibility("default"), noinline))

/* the runtime writes to it, unseen by the compiler */
extern volatile struct client tally_client
	__attribute__((visibility("hidden")));
volatile struct client tally_client = {
	(sizeof(struct client_calls) - sizeof(uint64_t)) / sizeof(void *),
	NULL,
};

/* a statement of each function: nothing is counted, or the runtime answers */
#define ASK(call)                                                              \
	struct client_calls *calls = tally_client.calls;                       \
                                                                               \
	return calls ? calls->call : TALLY_NOT_COUNTED

EXPORT int tally_events(void)
{
	ASK(events(calls));
}

EXPORT int tally_event(const char *name)
{
	ASK(event(calls, name));
}

EXPORT int tally_event_name(int event, char *name, size_t size)
{
	ASK(event_name(calls, event, name, size));
}

EXPORT int tally_read(uint64_t *counts, int n)
{
	ASK(read(calls, counts, n));
}

EXPORT int tally_stop(void)
{
	ASK(stop(calls));
}

EXPORT int tally_start(void)
{
	ASK(start(calls));
}

EXPORT int tally_phase(const char *name)
{
	ASK(phase(calls, name));
}

EXPORT int tally_phase_return(int phase)
{
	ASK(phase_return(calls, phase));
}
