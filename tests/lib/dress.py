#!/usr/bin/env python3
"""dress: a built tree of a machine's programs, fit for its own test suite.

    dress.py MACHINE WAY TREE STORE

Rewrites every program and library of TREE in a way of rewrite_run.py ("plain":
not at all). Libraries stay where they are. A program goes to STORE, and a small
one of its name, and as old as it, so that make is content, runs it, in qemu if
it has to, among C and compiler libraries that are rewritten the same way. Test
suites thus run programs by name, whoever starts them. Prints one line of JSON
per file, for rewrite_sweep.py to sum up.

"counted" leaves all files as they are; `tally count` runs them, which
rewrites them and all that they need. A profile of each run is in
STORE/profiles.
"""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from rewrite_run import *
from rewrite_sweep import is_elf

# no shell can do it: some drop variables whose names they do not like, others
# complain of the locale
LAUNCHER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const more[] = {%s0}; /* NAME=VALUE */
static const char *const libraries = "%s"; /* the last folder of them */
static const char *const words[] = {%s0};

int main(int argc, char **argv)
{
	char *args[1000], out[4096];
	const char *path = getenv("LD_LIBRARY_PATH");
	int n = 0;

	for (int i = 0; more[i]; i++)
		putenv(strdup(more[i]));
	if (*libraries) {
		strcat(strcat(strcpy(out, path ? path : ""), ":"), libraries);
		setenv("LD_LIBRARY_PATH", out, 1);
	}
	for (int i = 0; words[i]; i++) {
		snprintf(out, sizeof out, words[i], (int)getpid());
		args[n++] = strcmp(words[i], "@") ? strdup(out) : argv[0];
	}
	for (int i = 1; i < argc && n < 999; i++)
		args[n++] = argv[i];
	args[n] = 0;
	execv(args[0], args);
	return 127;
}
"""


AS_THEY_ARE = ("plain", "counted")
ELF_MACHINE = {"aarch64": b"\xb7\0", "x86_64": b"\x3e\0"}


def launched(way, world, store, real):
    """([NAME=VALUE], libraries, [word]) to run it; %d: the process"""
    if way == "counted":
        out = "%s/profiles/%s.%%d" % (store, os.path.basename(real))
        return (["XDG_CACHE_HOME=%s/cache" % store,
                 "QEMU_LD_PREFIX=" + world.original], "",
                [os.path.abspath(TALLY), "count", "--quiet", "--strict", "-o",
                 out, "--", real])
    if world.isa == HOST:
        return [], store + "/lib", [real]
    return [], "", [*emulator(world.isa), "-0", "@", "-L",
                    world.root or world.original, real]


def write_launcher(path, way, world, store, real):
    """What stands where the program was."""
    more, libraries, words = launched(way, world, store, real)
    source = LAUNCHER % ("".join('"%s", ' % w for w in more), libraries,
                         "".join('"%s", ' % w for w in words))
    subprocess.run(["gcc", "-w", "-x", "c", "-", "-o", path], check=True,
                   input=source, text=True)


def is_of(isa, path):
    """is it a program or library of the machine?"""
    if os.path.islink(path) or not os.path.isfile(path) or not is_elf(path):
        return False
    with open(path, "rb") as f:
        return f.read(20)[18:20] == ELF_MACHINE[isa]


def replace(way, path, dst):
    """path, rewritten, becomes dst, which may be path"""
    info = os.stat(path)
    copy = dst + ".new"
    os.makedirs(os.path.dirname(dst), exist_ok=True)
    if way in AS_THEY_ARE:
        shutil.copy2(path, copy)
        line = ""
    else:
        words = list(WAYS[way])
        if words[0] == TALLY:
            words.insert(2, "--json")
        first = words.index("%s")
        line = run(*words[:first], *fill(words, path, copy))
    os.chmod(copy, info.st_mode)
    os.utime(copy, ns=(info.st_atime_ns, info.st_mtime_ns))
    os.replace(copy, dst)
    return line


def dress(way, world, path, tree, store):
    """one file of the tree; a program moves to the same place in store"""
    if ".so" in os.path.basename(path):
        return replace(way, path, path)
    info = os.stat(path)
    real = os.path.join(store, os.path.relpath(path, tree))
    line = replace(way, path, real)
    os.unlink(path)
    write_launcher(path, way, world, store, real)
    os.chmod(path, info.st_mode)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    return line


def main():
    isa, way, tree, store = sys.argv[1:]
    world = World(isa, None if way in AS_THEY_ARE else way)
    os.makedirs(store + "/profiles")
    # the same name for all ways: programs may show it
    os.symlink((world.root or "/nonexistent") + "/lib", store + "/lib")
    paths = [os.path.join(folder, name)
             for folder, _, names in os.walk(tree) for name in names]
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(
                lambda p: dress(way, world, p, tree, store),
                sorted(p for p in paths if is_of(isa, p))):
            print(line.strip().replace("\n", " "))


if __name__ == "__main__":
    main()
