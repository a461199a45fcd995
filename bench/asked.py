#!/usr/bin/env python3
"""
asked: how long an answer takes. A profile of gcc's cc1 (20 MB of text, with all
its libraries) is asked in every way; printed are CPU seconds (the least of
five), seconds, megabytes at most, and lines of output. The claims: a report in
at most 1 s, an annotated procedure in at most 0.5 s, instructions as tsv in at
most 2 s for a million. Then of tally itself, which has debug information.
"""
import os
import subprocess
import sys
import tempfile
import time

TALLY = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"),
                                     "tally"))
ROUNDS = 5
# what is asked of one profile, and seconds allowed (None: nothing claimed)
ASKED = [
    ("report", 1), ("report --by image", 1), ("report --by block", 1),
    ("report --by edge", 1), ("report --by line", 1),
    ("report --by process", 1), ("report --by call-site", 1),
    ("report --by instruction --limit 20", 1),
    ("report --by instruction", None),
    ("report --by instruction --json", None),
    ("annotate %s", .5), ("graph --format dot %s", .5),
    ("export --format tsv", 2), ("export --format callgrind", None),
    ("export --format lcov", None), ("export --format folded", None),
]
WITH_LINES = [
    ("report --by line", 1), ("annotate cfg_build", .5),
    ("export --format lcov", None), ("export --format gcov", None),
]
OF_TWO = [("stats", None), ("diff", None), ("merge -o sum.tally", None)]


def ask(words):
    """(CPU seconds, seconds, MB, lines) of one answer."""
    start = time.perf_counter()
    p = subprocess.Popen([TALLY, *words], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    lines = sum(chunk.count(b"\n") for chunk in
                iter(lambda: p.stdout.read(1 << 20), b""))
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in (0, 1):
        raise SystemExit("%s: status %d" % (" ".join(words), p.returncode))
    return (used.ru_utime + used.ru_stime, time.perf_counter() - start,
            used.ru_maxrss / 1024, lines)


def best(what, profiles, allowed):
    words = what.split()
    seen = [ask(words + profiles) for _ in range(ROUNDS)]
    cpu, wall, size = (min(s[i] for s in seen) for i in range(3))
    late = allowed is not None and cpu > allowed
    print("  %-44s %6.2f %6.2f %6.0f %9d%s" % (
        what, cpu, wall, size, seen[0][3], "  MORE THAN %g s" % allowed
        if late else ""))
    return late


def profile(name, *words):
    subprocess.run([TALLY, "count", "-o", name, "--", *words], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compile_in(name, level):
    profile(name, CC1, "-quiet", level, "in.i", "-o", "/dev/null")


CC1 = subprocess.check_output(["gcc", "-print-prog-name=cc1"],
                              text=True).strip()
source = os.path.abspath("src/cmd/render/graph_dot.c")
include = os.path.abspath("src")
with tempfile.TemporaryDirectory() as where:
    os.environ["XDG_CACHE_HOME"] = where
    os.chdir(where)
    subprocess.run(["gcc", "-E", "-D_GNU_SOURCE", "-I" + include, source,
                    "-o", "in.i"], check=True)
    compile_in("a.tally", "-O2")
    compile_in("b.tally", "-O1")
    top = subprocess.check_output(
        [TALLY, "report", "--image", "cc1", "--by", "block", "--limit", "1",
         "--json", "a.tally"], text=True)
    hot = top.split('"start": "')[1].split('"')[0]
    print("  %-44s %6s %6s %6s %9s" % ("", "CPU s", "s", "MB", "lines"))
    late = [best(what % hot if "%s" in what else what, ["a.tally"], s)
            for what, s in ASKED]
    for what, s in OF_TWO:
        best(what, ["a.tally", "b.tally"], s)
    profile("self.tally", TALLY, "cfg", "/bin/bash")
    print("  of tally itself, with debug information:")
    late += [best(what, ["self.tally"], s) for what, s in WITH_LINES]
sys.exit(any(late))
