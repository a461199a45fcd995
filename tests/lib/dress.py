#!/usr/bin/env python3
"""dress: a built tree of a machine's programs, fit for its own test suite.

    dress.py MACHINE WAY TREE STORE

Rewrites every program and library of TREE in a way of rewrite_run.py ("plain":
not at all). Libraries stay where they are. A program goes to STORE, and a
script of its name, and as old as it, so that make is content, runs it, in qemu
if it has to, among C and compiler libraries that are rewritten the same way. Test suites
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

SCRIPT = '#!/bin/sh\nexec %s -0 "$0" -L %s %s "$@"\n'
NATIVE = """#!/bin/sh
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:%s/lib
exec %s "$@"
"""
COUNTED = """#!/bin/sh
export XDG_CACHE_HOME=%s/cache QEMU_LD_PREFIX=%s
exec %s count --quiet --strict -o %s/profiles/${0##*/}.$$ -- %s "$@"
"""


AS_THEY_ARE = ("plain", "counted")
ELF_MACHINE = {"aarch64": b"\xb7\0", "x86_64": b"\x3e\0"}


def script(way, world, store, real):
    """What stands where the program was."""
    if way == "counted":
        return COUNTED % (store, world.original, os.path.abspath(TALLY), store,
                          real)
    if world.isa == HOST:
        return NATIVE % (store, real)
    return SCRIPT % (" ".join(emulator(world.isa)),
                     world.root or world.original, real)


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
    with open(path, "w") as f:
        f.write(script(way, world, store, real))
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
