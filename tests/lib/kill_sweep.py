#!/usr/bin/env python3
"""kill_sweep: SIGKILL at any moment, under `tally count --trace-kill`.

    kill_sweep.py TALLY KERNEL-ROOT NEED WORK [RUNS]

On an emulated machine (machine.py) builds of tests/progs/count/ends.c are
killed while they run, and also end while other threads run. The program stores
in a file how often it was where: `tally export` says the same, nothing is
called unknown, and the status is that of a kill. KERNEL-ROOT holds kernel and
busybox, NEED libraries that tally needs, TALLY is built for that machine.
Prints TAP.
"""
import glob
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ends import *
from machine import Machine

LIBS = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0",
        os.path.basename(LOADER[ISA])]
# flags of the compiler, of tally, words of the program
JOBS = [
    ("ends", [], ["loop"]),
    ("ends-plain", [], ["loop"]),
    ("ends-static", [], ["loop"]),
    ("ends", ["--placement", "vertices"], ["loop"]),
    ("ends", ["--calls"], ["loop"]),
    ("ends", [], ["crew"]),
    ("ends-static", [], ["crew"]),
    ("ends", [], ["thread"]),
    ("ends", [], ["returns", "1000000"]),
    ("ends", [], ["files"]),
    ("ends-static", [], ["files"]),
    ("ends", [], ["forks"]),
    ("ends-static", [], ["forks"]),
]
BUILDS = {"ends": ["-O2"], "ends-plain": ["-O0"],
          "ends-static": ["-O2", "-static"]}
SCRIPT = """
export XDG_CACHE_HOME=/tmp/cache
# killed NUMBER DELAY PROGRAM OPTIONS WORD...
killed() {
	number=$1 delay=$2 program=$3 options=$4
	shift 4
	rm -f marks
	/tally/tally count --trace-kill --quiet -o profile $options \\
		/root/$program marks marks "$@" 2>/out/$number.err &
	while kill -0 $! && [ -z "$(tr -d '\\0' <marks)" ]; do
		:
	done 2>/dev/null
	usleep $delay
	kill -9 $(pidof $program)
	wait $!
	echo $? >/out/$number.status
	kept $number $program
}
# kept NUMBER PROGRAM: what is left of a run
kept() {
	/tally/tally export --format tsv profile 2>>/out/$1.err |
		grep "^$2	" >/out/$1.tsv
	cp marks /out/$1.marks
}
# among NUMBER: it ends by itself, while another thread runs
among() {
	rm -f marks
	/tally/tally count --trace-kill --quiet -o profile /root/ends \\
		marks marks among 2>/out/$1.err
	echo $? >/out/$1.status
	kept $1 ends
}
"""


def machine(tally, kernel, need, work, builds):
    m = Machine(glob.glob(kernel + "/boot/vmlinuz-*")[0],
                kernel + "/bin/busybox", work)
    for name in LIBS:
        m.files.file("lib/" + name, run(
            tool(ISA, "gcc"), "-print-file-name=" + name).strip())
    for path in glob.glob(need + "/lib/*.so.*"):
        m.files.file("lib/" + os.path.basename(path), path)
    for name in ("tally", "tally/lib", "tally/lib/tally"):
        m.files.folder(name)
    m.files.file("tally/tally", tally)
    for path in glob.glob(os.path.dirname(tally) + "/lib/tally/*" + ISA +
                          "*"):
        m.files.file("tally/lib/tally/" + os.path.basename(path), path)
    for b in builds.values():
        m.files.file("root/" + b.name, b.file)
    return m


def judge(build, out, number, status):
    """Complaints about one run."""
    text = {k: out["%d.%s" % (number, k)] for k in
            ("status", "err", "tsv", "marks")}
    bad = build.differences(read_marks(text["marks"]),
                            build.counts(text["tsv"].decode()))
    if int(text["status"]) != status:
        bad.append("status %d" % int(text["status"]))
    # other placements do not tell all of loops that use exclusives
    bad += [l for l in text["err"].decode().splitlines()
            if "procedures are not known" not in l]
    return bad


def main():
    tally, kernel, need, work = sys.argv[1:5]
    runs = int((sys.argv[5:] or ["4"])[0])
    builds = {n: Build(work, n, *f) for n, f in BUILDS.items()}
    rng, script, todo = random.Random(7), SCRIPT, []
    for build, options, words in JOBS:
        numbers = range(len(todo) * 100, len(todo) * 100 + runs)
        todo.append((build, options + words, numbers, 128 + 9))
        for n in numbers:
            script += "killed %d %d %s '%s' %s\n" % (
                n, rng.randrange(300000), build, " ".join(options),
                " ".join(words))
    numbers = range(10000, 10000 + runs)
    todo.append(("ends", ["among"], numbers, 3))
    script += "".join("among %d\n" % n for n in numbers)
    out = machine(tally, kernel, need, work, builds).run(
        script, 120 + 60 * runs * len(todo))
    failed = 0
    for i, (build, words, numbers, status) in enumerate(todo, 1):
        bad = [b for n in numbers for b in
               judge(builds[build], out, n, status)]
        failed |= bool(bad)
        print("%sok %d - %s %s: %d runs" % ("not " if bad else "", i, build,
                                            " ".join(words), runs))
        for line in bad:
            print("#   " + line)
    print("1..%d" % len(todo))
    return failed


if __name__ == "__main__":
    sys.exit(main())
