/* arch: the runtime's, of the machine that tests are made for. */
#ifdef __aarch64__
#include "runtime/aarch64/arch.h"
#else
#include "runtime/x86_64/arch.h"
#endif
