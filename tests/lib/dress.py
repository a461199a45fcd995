#!/usr/bin/env python3
"""dress: a built tree of AArch64 programs, made fit for its own test suite.

    dress.py WAY TREE STORE

Rewrites every program and library of TREE in a way of rewrite_run.py ("plain":
not at all). Libraries stay where they are. A program goes to STORE, and a
script of its name, and as old as it, so that make is content, runs it in qemu
among C and compiler libraries that are rewritten the same way. Test suites
thus run programs by name, whoever starts them. Prints one line of JSON per
file, for rewrite_sweep.py to sum up.

"counted" leaves all files as they are; the script runs `tally count`, which
rewrites them and all that they need. A profile of each run is in
STORE/profiles.
"""
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

from rewrite_run import *
from rewrite_sweep import is_elf

ISA = "aarch64"
SCRIPT = '#!/bin/sh\nexec %s -0 "$0" -L %s %s "$@"\n'
COUNTED = """#!/bin/sh
export XDG_CACHE_HOME=%s/cache QEMU_LD_PREFIX=%s
exec %s count --quiet --strict -o %s/profiles/${0##*/}.$$ -- %s "$@"
"""


AS_THEY_ARE = ("plain", "counted")


def script(way, world, store, real):
    """What stands where the program was."""
    if way == "counted":
        return COUNTED % (store, world.original, os.path.abspath(TALLY), store,
                          real)
    return SCRIPT % (" ".join(emulator(ISA)), world.root or world.original,
                     real)


def is_ours(path):
    """is it a program or library of the machine?"""
    if os.path.islink(path) or not os.path.isfile(path) or not is_elf(path):
        return False
    with open(path, "rb") as f:
        return f.read(20)[18:20] == b"\xb7\0"


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
    with open(path, "w") as f:
        f.write(script(way, world, store, real))
    os.chmod(path, info.st_mode)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    return line


def main():
    way, tree, store = sys.argv[1:]
    world = World(ISA, None if way in AS_THEY_ARE else way)
    os.makedirs(store + "/profiles")
    paths = [os.path.join(folder, name)
             for folder, _, names in os.walk(tree) for name in names]
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(
                lambda p: dress(way, world, p, tree, store),
                sorted(filter(is_ours, paths))):
            print(line.strip().replace("\n", " "))


if __name__ == "__main__":
    main()
