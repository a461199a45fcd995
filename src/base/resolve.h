/*
 * resolve: where the file is that a name stands for, links followed, to be
 * replaced by a new one of that name.
 *
 * In a folder that all may write to, such as /tmp, any user can put a link
 * where another is about to write. The kernel does not follow those of others
 * there (fs.protected_symlinks), but realpath() does: it reads each link and
 * never asks the kernel to follow one.
 */
#ifndef BASE_RESOLVE_H
#define BASE_RESOLVE_H

/*
 * The absolute name, to be freed with free(); NULL and errno: ENOENT, there is
 * no such file; EACCES, the way there is a stranger's link, or forbidden.
 */
char *resolve_file(const char *path);

#endif
