/*
 * build_id: the build id of an ELF file by its program headers, read piece by
 * piece from a descriptor. Its owner may change or shorten the file any time,
 * which would end a process that has mapped it; and it may be of any size.
 */
#ifndef ELF_BUILD_ID_H
#define ELF_BUILD_ID_H

#include <stdint.h>

enum { BUILD_ID_MOST = 64 };

/* its length; 0: it has none, or is not such a file */
unsigned build_id_read(int fd, uint8_t id[BUILD_ID_MOST]);

#endif
