#!/usr/bin/env python3
"""
smoke: every command of tally once, on a program of two procedures: its status,
and one line of what it says. All else is in the tests of each command; this is
what `make check-fast` has of them.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

# step() runs as often as it is told; with another word the program waits
TINY = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int step(int n)
{
	return n % 3 ? n + 1 : n * 2 + 1;
}
int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 0, last = atoi(argv[1]); i < last; i++)
		n = step(n);
	printf("%d\\n", n);
	fflush(stdout);
	if (argc > 2)
		getchar();
	return 3;
}
"""
TRIED = set()


def step(n):
    """what the program prints, if step() runs n times"""
    value = 0
    for _ in range(n):
        value = value + 1 if value % 3 else value * 2 + 1
    return str(value)


def smoke(t, status, line, *words):
    """tally WORDS ends with the status, and a line is like that"""
    TRIED.add(words[0])
    got, out, err = t.tally(*words, env=ENV)
    t.ok(got == status and re.search(line, out + err, re.M),
         " ".join(words), ["status %d, not %d" % (got, status),
                           "no line is " + line, *(out + err).splitlines()])


def makers(t):
    """what reads and runs programs"""
    smoke(t, 0, r"^step: entry 0x", "cfg", "tiny", "step")
    smoke(t, 0, r"^  moved +[\d,]+ ", "instrument", "-o", "copy", "tiny")
    p = subprocess.run(["./copy", "10"], cwd=t.where, env=ENV, text=True,
                       stdout=subprocess.PIPE)
    t.same((p.returncode, p.stdout), (3, step(10) + "\n"), "the copy runs")
    for n in 10, 20:
        smoke(t, 3, "^%s$" % step(n), "count", "--libs", "none", "-o",
              "p%d" % n, "./tiny", str(n))
    smoke(t, 0, "^$", "merge", "-o", "sum", "p10", "p20")
    smoke(t, 3, "^10  at:step$", "events", "-e", "at:step", "--libs", "none",
          "./tiny", "10")
    smoke(t, 3, "^10  at:step$", "events", "-e", "at:step", "--per-call-site",
          "-o", "calls", "./tiny", "10")


def running(t):
    """what there is to ask while a program runs"""
    p = subprocess.Popen([TALLY, "count", "--quiet", "--libs", "none", "-o",
                          "live", "./tiny", "10", "wait"], cwd=t.where,
                         env=ENV, text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    smoke(t, 0, "^$", "snapshot", "-o", "early", "live")
    p.communicate("\n")
    t.same(p.returncode, 3, "the program that waited has ended")
    p = subprocess.Popen([TALLY, "events", "--online", "-e", "at:step",
                          "--libs", "none", "--output", "counts", "./tiny",
                          "10", "wait"], cwd=t.where, env=ENV, text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    smoke(t, 0, "^10  at:step$", "query", str(p.pid))
    p.communicate("\n")
    t.same(open(t.where + "/counts").read().splitlines()[0], "10  at:step",
           "and at its end")


def readers(t):
    """what reads profiles; step() has run as often as the program was told"""
    for name, calls in ("p10", 10), ("p20", 20), ("sum", 30), ("early", 10):
        smoke(t, 0, r"%% +%d +tiny +step$" % calls, "report", name)
    smoke(t, 0, r"^calls 10, instructions [\d,]+, ", "annotate", "step", "p10")
    smoke(t, 0, "^digraph ", "graph", "--format", "dot", "step", "p10")
    smoke(t, 0, r"^10 at:step, 100\.00% of all$", "flame", "calls")
    smoke(t, 1, r" \+100\.0% .* 10 +20 .* step$", "diff", "p10", "p20")
    smoke(t, 0, r"^33\.33% .* 2 +tiny +step$", "stats", "p10", "p20")
    smoke(t, 0, r"^tiny\t0x[0-9a-f]+\t10$", "export", "--format", "tsv",
          "p10")


def traces(t):
    """where traces can be made"""
    if HOST != "x86_64":
        smoke(t, 0, "^usage: tally trace ", "trace", "--help")
        smoke(t, 0, "^usage: tally replay ", "replay", "--help")
        return
    smoke(t, 3, r"^\d+$", "trace", "-o", "trace", "./tiny", "10")
    smoke(t, 0, r"^ *-> step\b", "replay", "--as", "calls", "trace")


def samplers(t):
    """what samples, where that is allowed"""
    smoke(t, 0, "^usage: tally daemon run", "daemon", "--help")
    smoke(t, 4, "^tally: .*: no daemon runs for it$", "daemon", "status",
          "--db", "none")
    TRIED.add("doctor")
    status, out, err = t.tally("doctor")
    t.ok(status in (0, 4) and out.startswith("machine "), "doctor",
         [status, out, err])
    if status:
        smoke(t, 0, "^usage: tally record ", "record", "--help")
        return
    smoke(t, 3, r"^tally: \d+ samples of ", "record", "-o", "samples",
          "./tiny", "10")
    smoke(t, 0, r"^\d+ samples of ", "report", "samples")


def others(t):
    for shell in "bash", "zsh", "fish":
        smoke(t, 0, "tally completion " + shell, "completion", shell)
    out = t.tally("--help")[1]
    t.same(TRIED, set(re.findall(r"^  (\w+) ", out, re.M)),
           "that was every command")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    if EMULATED:
        print("1..0 # SKIP programs of this machine are counted")
        sys.exit(0)
    ENV = {**os.environ, "XDG_CACHE_HOME": where}
    with open(t.path("tiny.c"), "w") as f:
        f.write(TINY)
    run(*compiler(HOST, "gcc"), "-O1", "-g", "-o", "tiny", "tiny.c",
        cwd=where)
    makers(t)
    running(t)
    readers(t)
    traces(t)
    samplers(t)
    others(t)
    t.done()
