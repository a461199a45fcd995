#!/usr/bin/env python3
"""
trace/pack: `tally trace pack` makes traces smaller, and replays of both say the
same, byte for byte: of whole ones, of the last bytes, of one with addresses, of
a program that was killed, of one without an end. What cannot be written, or was
killed, leaves the trace as it was.
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
import count_run
from answers import *
from rewrite_run import ISAS

WORK = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static int step(int n) { return n %% 3 ? n * 7 + 1 : n / 3; }
int main(void)
{
	static int cell[1024];
	unsigned long sum = 0;
	for (int i = 0; i < %d; i++) {
		cell[i * 31 %% 1024] += step(i);
		sum += cell[(i * 17 + sum) %% 1024] & 3;
	}
	if (sum & 1)
		putchar('x');
	%s;
}
"""
CUT = 40 # bytes
KINDS = ["blocks"], ["insns"], ["calls"], ["bbv", "--interval", "1000"]


class Packs(Asker):
    def build(self, name, source):
        with open(self.path(name + ".c"), "w") as f:
            f.write(source)
        run(*compiler(count_run.ISA, "gcc"), "-O1", "-o", self.path(name),
            self.path(name + ".c"))

    def trace(self, file, *words):
        env = {**os.environ, "XDG_CACHE_HOME": self.where,
               "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % count_run.ISA}
        self.tally("trace", "-o", file, *words, env=env)

    def bytes(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()


def replays(t, file, addresses):
    kinds = [*KINDS, *([["addresses"]] if addresses else [])]
    said = []
    for kind in kinds:
        status, out, err = t.tally("replay", "--as", *kind, file)
        said.append((kind, status, out, err))
        if status or len(out) < 100:
            t.ok(False, "replay %s" % kind, [out, err])
    return said


def check_pack(t, file, addresses=False, missing=0):
    """Packed, and packed again, it tells the same; so many bytes are missing
    at its end, which then are there."""
    status, out, err = t.tally("trace", "pack", "-o", "packed", file)
    t.ok(not status and out.split("\n")[0].split() ==
         ["before", "after", "bytes", "of"], file + ": packed",
         [status, out, err])
    before = replays(t, file, addresses)
    t.ok(replays(t, "packed", addresses) == before,
         "and tells the same, %d kinds" % len(before))
    size = os.path.getsize(t.path("packed"))
    was = os.path.getsize(t.path(file)) + missing
    t.ok(size <= was, "in no more bytes", ["%d of %d" % (size, was)])
    os.chmod(t.path("packed"), 0o640)
    said = t.parsed("trace", "pack", "--json", "packed")
    t.same((said["threads_after"], said["bytes_after"]),
           (said["threads_before"], said["bytes_before"]),
           "packed again, in its place: as many")
    t.same(os.stat(t.path("packed")).st_mode & 0o777, 0o640, "with its mode")
    t.ok(replays(t, "packed", addresses) == before, "which tells the same")


def check_kinds(t, n):
    t.build("work", WORK % (n, "return 0"))
    t.build("dies", WORK % (n, "raise(SIGKILL)"))
    t.trace("whole", "--", "./work")
    check_pack(t, "whole")
    t.trace("addresses", "--addresses", "--", "./work")
    check_pack(t, "addresses", True)
    t.trace("last", "--addresses", "--last", str(256 << 10), "--", "./work")
    check_pack(t, "last", True)
    t.trace("killed", "--", "./dies")
    t.ok("lost: up to" in t.tally("replay", "--as", "calls", "killed")[1],
         "a program was killed")
    check_pack(t, "killed")
    data = t.bytes("addresses")
    with open(t.path("cut"), "wb") as f:
        f.write(data[:-CUT])
    check_pack(t, "cut", True, CUT)
    t.ok("incomplete" in t.tally("replay", "packed")[1],
         "what had no end has none")


def check_limit(t, n):
    """What has no room for all chunks ends with one of them."""
    t.build("long", WORK % (n, "return 0"))
    t.trace("limit", "--addresses", "--limit", str(1 << 40), "--", "./long")
    kind = ["--as", "bbv", "--interval", "100000"]
    whole = t.tally("replay", *kind, "limit")[1]
    limit = os.path.getsize(t.path("limit")) - (16 << 10)
    t.trace("limit", "--addresses", "--limit", str(limit), "--", "./long")
    said = t.tally("replay", *kind, "limit")
    t.tally("trace", "pack", "limit")
    t.ok(100 < len(said[1]) < len(whole) and
         t.tally("replay", *kind, "limit") == said,
         "a trace that was limited", [len(said[1]), said[2]])


def limited(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def check_written(t):
    """What is being written is left alone, also by another trace."""
    p = subprocess.Popen([TALLY, "trace", "-o", "still", "cat"],
                         cwd=t.where, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(b"x")
    p.stdin.flush()
    p.stdout.read(1)
    t.refused(3, "still being written", "trace", "pack", "still")
    t.refused(125, "another trace is being written", "trace", "-o", "still",
              "true")
    p.communicate()
    t.ok(t.tally("replay", "--as", "blocks", "still")[0] == 0 and
         t.tally("trace", "pack", "still")[0] == 0, "then it is whole")


def check_failures(t):
    data = t.bytes("addresses")
    status, out, err = t.tally("trace", "pack", "addresses",
                               preexec_fn=lambda: limited(20 << 10))
    t.ok(status == 4 and not out and "too large" in err.lower() and
         t.bytes("addresses") == data, "what cannot be written",
         [status, out, err])
    t.refused(4, "cannot write it", "trace", "pack", "-o", "/no/such/file",
              "addresses")
    t.refused(3, "is no trace", "trace", "pack", "work")
    check_written(t)
    names, rng = sorted(os.listdir(t.where)), random.Random(3)
    for i in range(8):
        p = subprocess.Popen([TALLY, "trace", "pack", "addresses"],
                             cwd=t.where, stdout=subprocess.DEVNULL)
        time.sleep(rng.random() / 5)
        p.send_signal(signal.SIGKILL)
        if p.wait() == 0:
            break
    left = [x for x in os.listdir(t.where) if x not in names and
            not x.endswith(".new")]
    t.none(left, "when killed it leaves nothing behind")
    t.ok(t.bytes("addresses") == data or
         t.tally("replay", "addresses")[0] == 0, "and the trace is there")
    os.symlink("whole", t.path("link"))
    t.tally("trace", "pack", "link")
    t.ok(os.path.islink(t.path("link")), "a link stays one")


def main():
    with tempfile.TemporaryDirectory() as where:
        t = Packs(where)
        for isa in sys.argv[1:] or ISAS:
            count_run.use(isa)
            if count_run.missing():
                t.skip(isa, count_run.missing())
                continue
            check_kinds(t, 60000 if isa == HOST else 10000)
            if isa == HOST:
                check_limit(t, 3000000)
                check_failures(t)
        t.done()


main()
