#!/usr/bin/env python3
"""
trace/syscalls: `tally trace --syscalls` has each system call that code makes
which is traced, in order, right before the instruction that makes it: as the
program says, in threads, children and handlers. With each encoding, on either
machine.
"""
import json
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
import count_run
from answers import *
from rewrite_run import ISAS

ENCODINGS = ["witness", "bits", "every-branch"]
# getppid, getuid, geteuid, getgid, getegid; exit_group, exit
PROBES = {"x86_64": {110, 102, 107, 104, 108},
          "aarch64": {173, 174, 175, 176, 177}}
EXITS = {"x86_64": [231, 60], "aarch64": [94, 93]}
MAKES = {"x86_64": r"\tsyscall", "aarch64": r"\tsvc\t"}
CALL = re.compile(r"# system call (\d+)\tCPU (\d+)\ttime (\d+)")
THREADS = {"main": (1, 0), "thread": (1, 1), "child": (2, 0)}


class Calls(Asker):
    def build(self):
        run(*compiler(count_run.ISA, "gcc"), "-O2", "-pthread", "-o",
            self.path("syscalls"),
            os.path.abspath("tests/progs/trace/syscalls.c"))
        code = run(*dumper(), "-d", self.path("syscalls"))
        return {int(l.split(":")[0], 16) for l in code.splitlines()
                if re.search(MAKES[count_run.ISA], l)}

    def trace(self, *options):
        """{thread: numbers of calls that it says it has made}"""
        status, out, err = self.tally(
            "trace", "-o", "trace", *options, "--", "./syscalls",
            env={**os.environ, "XDG_CACHE_HOME": self.where,
                 "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % count_run.ISA})
        self.same((status, err), (0, ""), "traced")
        return {THREADS[l.split()[0]]: [int(w) for w in l.split()[1:]]
                for l in out.splitlines()}

    def lines(self, *words):
        status, out, err = self.tally("replay", *words, "trace")
        self.same((status, err), (0, ""), "replayed " + " ".join(words))
        return out.splitlines()


def dumper():
    return ["%sobjdump" % ("" if count_run.ISA == HOST else
                           count_run.ISA + "-linux-gnu-")]


def by_thread(lines):
    threads = {}
    for l in lines:
        m = re.fullmatch(r"# process (\d+) thread (\d+)", l)
        if m:
            at = threads.setdefault((int(m[1]), int(m[2])), [])
        else:
            at.append(l)
    return threads


def check_thread(t, key, lines, want, places):
    calls = [tuple(map(int, CALL.fullmatch(l).groups())) for l in lines
             if l.startswith("# system call")]
    told = [c[0] for c in calls]
    t.same([n for n in told if n in PROBES[count_run.ISA]], want,
           "%d.%d: %d calls" % (*key, len(want)))
    t.same(told[-1], EXITS[count_run.ISA][key[1]], "the last one ends it")
    times = [c[2] for c in calls]
    t.ok(times == sorted(times) and times[0] and
         all(c[1] < 1 << 20 for c in calls), "when they were made", calls[:5])
    bad, call = [], False
    for i, l in enumerate(lines):
        if l.startswith("syscalls\t"):
            if (int(l.split("\t")[1], 16) in places) != call:
                bad.append("%d: %s" % (i, l))
        call = l.startswith("# system call") or (call and l[0] == "#")
    t.none(bad[:5], "each before its instruction")


def check(t, encoding, places):
    want = t.trace("--syscalls", "--encoding", encoding)
    threads = by_thread(t.lines("--as", "insns"))
    t.same(sorted(threads), sorted(want), "%s %s: threads" % (count_run.ISA,
                                                             encoding))
    for key in sorted(want):
        check_thread(t, key, threads[key], want[key], places)


def check_forms(t, n):
    """JSON and blocks have the same calls; a trace without them has none."""
    told = [x for x in map(json.loads, t.lines("--json", "--as", "blocks"))
            if x.get("kind") == "syscall"]
    text = [CALL.fullmatch(l) for l in t.lines("--as", "calls")]
    t.same([(x["syscall"], x["cpu"], x["time"]) for x in told],
           [tuple(map(int, m.groups())) for m in text if m], "JSON")
    t.ok(len(told) > n, "calls of libraries as well", [len(told)])
    t.trace()
    t.same([l for l in t.lines("--as", "blocks") if CALL.match(l)], [],
           "none is recorded without --syscalls")


def main():
    with tempfile.TemporaryDirectory() as where:
        t = Calls(where)
        for isa in sys.argv[1:] or ISAS:
            count_run.use(isa)
            if count_run.missing():
                t.skip(isa, count_run.missing())
                continue
            places = t.build()
            for encoding in ENCODINGS:
                check(t, encoding, places)
            check_forms(t, len(places))
        t.done()


main()
