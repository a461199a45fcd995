#!/usr/bin/env python3
"""
events/input: what `tally events` is asked for and cannot do, and what it says
when it is done: bad lists of events, files that are none, limits that are
reached to the instruction, runs that are repeated, programs that are not there.
"""
import os
import sys

sys.path.insert(0, "tests/lib")
from events_run import *

tap = Tap()
LAUNCH_FAILED, NOT_EXECUTABLE, NOT_FOUND, TIMED_OUT = 125, 126, 127, 124
SOURCE = r"""
#include <stdlib.h>
__attribute__((noinline)) int work(int n) { return n < 2 ? n : work(n - 1) + 1; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	while (n < 0)
		work(1);
	return work(n) & 1;
}
"""
# a child says, in its chunk of the profile, that it is another process
LIAR = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "abi/profile_format.h"
static void lie(const char *profile, uint32_t pid, uint64_t started)
{
	static char unit[PROFILE_UNIT];
	struct chunk_process *c = (void *)unit;
	int fd = open(profile, O_RDWR);
	for (off_t at = 0; pread(fd, unit, sizeof unit, at) > 0;
	     at += sizeof unit) {
		if (c->chunk.magic != CHUNK_MAGIC ||
		    c->chunk.kind != CHUNK_PROCESS ||
		    c->pid != (uint32_t)getpid())
			continue;
		c->pid = pid;
		c->started = started;
		pwrite(fd, c, sizeof *c, at);
		puts("lied");
	}
}
int main(int argc, char **argv)
{
	int told[2];
	char c;
	pipe(told);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		lie(argv[1], (uint32_t)atoi(argv[2]), strtoull(argv[3], 0, 10));
		fflush(stdout);
		write(told[1], "", 1);
		for (;;)
			pause();
	}
	read(told[0], &c, 1);
	for (;;)
		;
}
"""


class Subject:
    def __init__(self):
        self.here = room("input")
        self.exe = self.here + "/subject"
        with open(self.exe + ".c", "w") as f:
            f.write(SOURCE)
        run(*compiler(count_run.ISA, "gcc"), "-O1", "-fno-inline", "-o",
            self.exe, self.exe + ".c")

    def file(self, name, text):
        with open(os.path.join(self.here, name), "w") as f:
            f.write(text)
        return os.path.join(self.here, name)

    def run(self, *words):
        """(status, messages)"""
        status, _, err = quiet([TALLY, "events", *words], self.here)
        return status, err


def refused(s, words, status, *said):
    got, err = s.run(*words)
    return [(" ".join(os.path.basename(w)[:40] for w in words),
             [] if got == status and all(w in err for w in said) else
             ["status %d: %s" % (got, err)])]


def refusals(s):
    exe, here = [s.exe], s.here
    bad = LAUNCH_FAILED
    yield ["-e", "insn", *exe], bad, "no event 'insn'", "'insns'", "loads"
    yield ["-e", "insns,brunches", *exe], bad, "did you mean 'branches'?", \
        *EVENTS
    yield ["-e", ",", *exe], bad, "no event"
    for form in ("at:", "at:0xzz", "at:0x", "at:work+0x", "at::work",
                 "at:subject:", "at:0x1ffffffffffffffff"):
        yield ["-e", form, *exe], bad, form, "names no instruction"
    yield ["-e", "at:@" + here + "/none", *exe], bad, "none: No such file"
    yield ["-e", "at:@" + s.file("bad", "# all\nwork\n0xzz\n"), *exe], bad, \
        "bad: line 3"
    for form in "at:nowhere", "at:all:work", "at:none:work":
        yield ["-e", form, *exe, "8"], bad, form, "nothing"
    yield ["-e", ",".join("at:work+0x%x" % (4 * i) for i in range(33)),
           *exe], bad, "more than 32"
    yield ["--output", here + "/none/x", *exe], bad, "none/x: No such file"
    yield ["--output", "/dev/full", *exe, "8"], bad, "/dev/full", \
        "could not be written"
    yield ["-o", here, *exe, "8"], 0, "no regular file"
    for option in ("--stop-at", "--timeout-insns", "--repeat", "--thread"):
        yield [option, "0", *exe], bad, option
    yield ["-p", "1", *exe], bad, "already"
    yield [here + "/none"], NOT_FOUND, "No such file"
    yield ["no-such-program"], NOT_FOUND, "not found"
    yield [s.exe + ".c"], NOT_EXECUTABLE, "Permission denied"
    yield ["-e", "at:nowhere", *exe, "9"], 1, "at:nowhere"


def sets(s):
    """The same instructions, named in all ways."""
    at = next(a for a, _, n in Names.read(count_run.ISA, s.exe) if
              n == "work")
    file = s.file("set", "# where\n\n  work  # one\n%#x\t\nsubject:work\r\n" %
                  at)
    empty = s.file("empty", "# nothing\n")
    forms = ["at:work", "at:%#x" % at, "at:subject:work",
             "at:subject:%#x" % at, "at:@" + file]
    t = tally_events(s.here, s.exe, ["10"], events=forms + ["at:@" + empty])
    bad = [] if list(t.events.values()) == [10] * len(forms) + [0] else [
        str(t.events)]
    for how in ([], ["--online"]):
        t = tally_events(s.here, s.exe, ["10"], *how,
                         events=["at:work", "at:0x1"])
        bad += [] if list(t.events.values()) == [10, None] and [
            x["event"] for x in t.json["not_measured"] if
            "0x1 is no instruction" in x["reason"]] == ["at:0x1"] else [
                str(t.json)]
    many = ["at:work"] + EVENTS
    for how in ([], ["--online"]):
        t = tally_events(s.here, s.exe, ["10"], *how, events=many)
        bad += [] if list(t.events) == many and t.events["at:work"] == 10 \
            else [str(t.events)]
    return [("sets", bad)]


def limits(s):
    """Exact, whether it ends by itself or never would."""
    total = tally_events(s.here, s.exe, ["10"], "--online", "--libs", "none",
                         events=["insns"]).events["insns"]
    words = ["--libs", "none", "-e", "calls", "--timeout-insns"]
    got = [s.run(*words, str(n), s.exe, "10") for n in
           (total - 1, total, total + 1)]
    bad = [] if [g[0] for g in got] == [TIMED_OUT, TIMED_OUT, 0] and all(
        ("--timeout-insns" in g[1]) == (g[0] == TIMED_OUT) and
        "insns\n" not in g[1] for g in got) else [str(got)]
    status, err = s.run(*words, "1000000", s.exe, "-1")
    bad += [] if status == TIMED_OUT and "--timeout-insns" in err else [
        "%d %s" % (status, err)]
    return [("limits", bad)]


def liar(s):
    """A limit ends nothing that is not of the run, whatever the profile says"""
    exe, profile = s.here + "/liar", s.here + "/liar.tally"
    s.file("liar.c", LIAR)
    run(*compiler(count_run.ISA, "gcc"), "-w", "-Isrc", "-o", exe, exe + ".c")
    other = subprocess.Popen(["sleep", "600"])
    try:
        with open("/proc/%d/stat" % other.pid) as f:
            started = f.read().rsplit(")", 1)[1].split()[19]
        status, out, err = quiet(
            [TALLY, "events", "-e", "insns", "-o", profile, "--timeout-insns",
             "1000000", exe, profile, str(other.pid), started], s.here)
        lives = other.poll() is None
    finally:
        other.kill()
        other.wait()
    return [("a profile that lies", [] if lives and status == TIMED_OUT and
             "lied" in out else [str((lives, status, out, err))])]


def repeated(s):
    status, err = s.run("--repeat", "3", "-e", "insns,at:work", "--libs",
                        "none", s.exe, "11")
    bad = [] if status == 1 and "same in 3 runs: insns" in err and \
        "same in 3 runs: at:work" in err and err.count("at:work") == 2 else [
            err]
    t = tally_events(s.here, s.exe, ["10"], "--repeat", "3", "--libs", "none",
                     events=["at:work"])
    bad += [] if t.json.get("runs") == 3 and t.json["ranges"] == {
        "at:work": {"least": 10, "most": 10}} else [str(t.json)]
    return [("repeated", bad)]


def profile(s):
    """It is kept, for the commands that answer."""
    file = s.here + "/kept.tally"
    status, err = s.run("-o", file, "-e", "insns", s.exe, "8")
    text = run(TALLY, "report", "--by", "procedure", file)
    return [("-o", [] if status == 0 and "work" in text else [err, text])]


def listed(s):
    """Those that are listed are there, and no others."""
    text = run(TALLY, "events", "list")
    names = [l.split()[0] for l in text.splitlines() if l[0] != " "]
    said = json.loads(run(TALLY, "events", "list", "--json"))
    return [("list", [] if names == EVENTS + ["at:PLACE"] and
             [x["event"] for x in said] == EVENTS else [text])]


def jobs():
    s = Subject()
    for words, status, *said in refusals(s):
        yield "refused", refused, s, words, status, *said
    for f in sets, limits, liar, repeated, profile, listed:
        yield f.__name__, f, s


test_all(tap, jobs)
