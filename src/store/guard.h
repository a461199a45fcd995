/*
 * guard: a database that other users read. A process that may read a file may
 * also lock it, and so keep any writer from it for ever, if that believes in
 * locks. So the locks of SQLite are a courtesy here: a writer waits for readers
 * for a while, and then writes without asking (store_begin()). What keeps
 * writers apart is another lock, on a file that only its owner can open. A
 * reader looks at its end whether the file was written in the meantime: a
 * reader that takes too long is the one that fails.
 *
 *	HOST.tallydb		owner writes, a group reads: 0640
 *	HOST.tallydb-journal	0640, too, while something is written
 *	HOST.tallydb.writer	0600, locked by the writer
 *
 * None of them is ever a link, and no other user may write to the directory.
 */
#ifndef STORE_GUARD_H
#define STORE_GUARD_H

#include "store/sql.h"

/*
 * Makes the directory, if there is none. -1 and *e: it cannot be made, or
 * others may write there, and could put links to anything in our way.
 */
int guard_directory(const char *directory, struct err *e);
/* makes the file if there is none, and checks that it is a plain one */
int guard_file(const char *path, struct err *e);
/* only the owner writes, only the group reads; gid -1: as it is */
int guard_protect(const char *path, gid_t gid, struct err *e);

/* this process becomes the only writer; -1 and *e: another is, for too long */
int guard_lock(struct store *s, struct err *e);
void guard_unlock(struct store *s);

/* how often the file has been written to */
uint32_t guard_changes(struct store *s);
/* whether a writer has written, or is about to, without SQLite's locks */
bool guard_is_torn(struct store *s);

#endif
