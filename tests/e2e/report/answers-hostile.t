#!/usr/bin/env python3
"""
answers-hostile: every command that reads profiles, with profiles that were
damaged under a right checksum, cut off, or are something else: an answer, or
status 3 and one line that says why; never a crash, a hang or a flood. And with
images that have gone, or are another build: the answer goes on with addresses,
and a note names both.
"""
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from option_texts import helped
from patience import PATIENCE

MUTATE = os.path.join(os.path.dirname(TALLY), "tools/mutate-profile")
FIRST = int(os.environ.get("PROFILE_SEED", "1"))
SECONDS = PATIENCE
FORMATS = helped(run(TALLY, "help", "export"))["--format"].choices
BY = [w for w in helped(run(TALLY, "help", "report"))["--by"].choices
      if w not in ("event", "epoch")] # which are for databases
assert len(FORMATS) >= 10 and len(BY) >= 8
NESTED = None   # its address

# a program that a signal ends in the middle of something, by a pointer
PROGRAM = r"""
#include <signal.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) static void a(unsigned n) { sink += n; }
__attribute__((noinline)) static void b(unsigned n) { sink ^= n; }
__attribute__((noinline)) static void loop(unsigned n)
{
	void (*volatile f[2])(unsigned) = {a, b};

	for (unsigned i = 0; i < n; i++)
		f[i & 1](i);
	switch (n % 5) {
	case 0: sink += 3; break;
	case 1: sink -= 5; break;
	case 2: sink ^= 9; break;
	case 3: sink |= 2; break;
	default: *(volatile int *)(unsigned long)(n - 9) = 1;
	}
}
int main(void)
{
	loop(10);
	loop(9);
	return 0;
}
"""


def commands(victim, sound):
    """Every way to ask, with words that fit any profile."""
    for by in BY:
        yield "report", "--by", by, "--all", victim
        yield "report", "--by", by, "--json", "--sort", "name", victim
    for form in FORMATS:
        yield "export", "--format", form, victim
    for name in ("loop", NESTED):
        yield "annotate", name, victim
        yield "graph", "--format", "dot", name, victim
    yield "graph", "--json", "main", victim
    for by in ("procedure", "block", "edge"):
        yield "diff", "--by", by, "--all", sound, victim
        yield "diff", "--by", by, victim, sound
    for by in ("image", "procedure", "line"):
        yield "stats", "--by", by, sound, victim
    yield "report", sound, victim
    yield "merge", "-o", "sum", victim, sound
    yield "snapshot", victim, "-o", "copy"


def ask(t, words):
    """What is wrong with an answer, or None."""
    env = {**os.environ, "ASAN_OPTIONS":
           os.environ.get("ASAN_OPTIONS", "") + ":exitcode=99",
           "UBSAN_OPTIONS": "exitcode=99"}
    try:
        p = subprocess.run([TALLY, *words], cwd=t.where, text=True, env=env,
                           errors="replace", stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "longer than %d s" % SECONDS
    last = p.stderr.splitlines()[-1:]
    if p.returncode not in (0, 1, 3) or "anitizer" in p.stderr or \
            "runtime error" in p.stderr:
        return "status %d: %s" % (p.returncode, p.stderr[-2000:])
    if p.returncode == 3 and not (last and last[0].startswith("tally")):
        return "status 3, and no word why: " + p.stderr[-300:]
    if len(p.stderr.splitlines()) > 40:
        return "a flood of notes: " + p.stderr[:300]
    return None


def check(t, name, victim, sound):
    bad = []
    for words in commands(victim, sound):
        wrong = ask(t, words)
        if wrong:
            bad.append("%s: tally %s: %s" % (name, " ".join(words), wrong))
    return bad


def mutants(t, n):
    bad, told = [], 0
    for seed in range(FIRST, FIRST + n):
        run(MUTATE, t.path("sound"), t.path("victim"), str(seed))
        told += t.tally("report", "victim")[0] == 0
        bad += check(t, "seed %d" % seed, "victim", "sound")
    t.none(bad, "%d damaged profiles do no harm" % n)
    t.ok(n < 10 or told, "some of them could be told (%d)" % told)


def cut(t):
    data, bad = open(t.path("sound"), "rb").read(), []
    for size in (0, 1, 7, 40, 100, len(data) // 2, len(data) - 1):
        with open(t.path("victim"), "wb") as f:
            f.write(data[:size])
        for words in commands("victim", "sound"):
            status, out, err = t.tally(*words)
            if status != 3 or "victim" not in err or \
                    len(err.splitlines()) > 1:
                bad.append("%d bytes: %s: %d %s" % (size, words, status, err))
    t.none(bad, "cut off: refused in one line that names it")


def others(t):
    """Things that are no profiles."""
    bad = []
    os.mkdir(t.path("folder"))
    for name in ("program", "folder", "nothing", "/dev/null"):
        for words in commands(name, "sound"):
            status, out, err = t.tally(*words)
            if status != 3 or name not in err or len(err.splitlines()) > 1:
                bad.append("%s: %d %s" % (words, status, err))
    t.none(bad, "no profiles: refused in one line")


def images(t):
    """The image has gone, is another build's, or is no ELF file."""
    os.rename(t.path("program"), t.path("kept"))
    run(*compiler(HOST, "gcc"), "-O0", "-o", t.path("newer"), t.path("p.c"))
    with open(t.path("junk"), "w") as f:
        f.write("no program\n")
    for name, stand_in, pattern in (
            ("gone", None, "No such file"),
            ("another build", "newer", r"another build now, (\w+), than was "
                                       r"measured, (\w+)"),
            ("no program", "junk", "program: ")):
        if stand_in:
            shutil.copy(t.path(stand_in), t.path("program"))
        t.none(check(t, name, "sound", "sound"), name + ": all is answered")
        for words in (("report", "--by", "line"), ("annotate", "loop"),
                      ("graph", "--format", "dot", "loop")):
            status, out, err = t.tally(*words, "sound")
            t.ok(status == 0 and re.search(pattern, err) and
                 len(err.splitlines()) == 1,
                 "%s: %s says so" % (name, words[0]), [str(status), err])
        status, out, err = t.tally("annotate", "--json", "loop", "sound")
        code = json.loads(out)["code"]
        t.ok(status == 0 and len(code) > 20 and all(c["count"] is not None
                                                    for c in code),
             name + ": addresses and counts")
        if stand_in:
            os.unlink(t.path("program"))
    os.rename(t.path("kept"), t.path("program"))


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    with open(t.path("p.c"), "w") as f:
        f.write(PROGRAM)
    run(*compiler(HOST, "gcc"), "-O1", "-g", "-Wl,--build-id", "-o",
        t.path("program"), t.path("p.c"))
    subprocess.run([TALLY, "count", "--quiet", "--libs", "none", "--calls",
                    "-o", "sound", "./program"], cwd=where,
                   env={**os.environ, "XDG_CACHE_HOME": where})
    NESTED = "0x%x" % int(re.search(r"^(\w+) t loop$",
                                    run("nm", t.path("program")), re.M)[1],
                          16)
    t.none(check(t, "sound", "sound", "sound"), "every command answers")
    mutants(t, MUTANTS // 10)
    cut(t)
    others(t)
    images(t)
    t.done()
