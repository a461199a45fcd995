/*
 * regular: untrusted files are opened only if they are plain ones. To open a
 * FIFO waits for a writer, and to open a device may do something: so what is
 * there is looked at first, by a descriptor that reads nothing (O_PATH), and
 * that very file is opened then.
 */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <sys/stat.h>

#include "base/err.h"

/*
 * A descriptor to read from, never one that waits, and what fstat() says of it;
 * flags: O_NOFOLLOW, or 0. -1 and *e: it is not there, or no plain file.
 */
int regular_open(const char *path, int flags, struct stat *s, struct err *e);
/*
 * From now on only files of that user, and root's, are opened. What a name
 * stands for may change between the moment that this process takes an owner's
 * rights and the moment that it opens the file.
 */
void regular_only_of(uid_t owner);

/*
 * resolve: where the file is that a name stands for, links followed, to be
 * replaced by a new one of that name.
 *
 * In a folder that all may write to, such as /tmp, any user can put a link
 * where another is about to write. The kernel does not follow links of other
 * users there (fs.protected_symlinks), but realpath() does: it reads each link
 * and never asks the kernel to follow one.
 */

/*
 * The absolute name, to be freed with free(); NULL and errno: ENOENT, there is
 * no such file; EACCES, a link on the way is another user's, or it is
 * forbidden.
 */
char *resolve_file(const char *path);

#endif
