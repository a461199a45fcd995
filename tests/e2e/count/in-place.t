#!/usr/bin/env python3
"""
count/in-place: code that stays in place is not counted. Where a call of it ran,
totals say "at least", and why; where none did, they are exact. And it is little:
on both machines the C library's longjmp(), the beginning of threads, the
checking forms of memcpy() and the unwinder are counted.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
NOTE = "procedures that stay in place ran, uncounted, in in-place"
# how many other regions may stay: a memcpy() of x86-64 computes jumps, and the
# first of AArch64's stubs is in no table
LIBRARIES = {"libc.so.6": 2, "libgcc_s.so.1": 1}
STAYS = ("a stub of the linker", "signal frame", "a signal trampoline",
         "its frame depends", "no proof that this is code")


def tally(*words, isa=HOST):
    env = dict(os.environ, QEMU_LD_PREFIX="/usr/%s-linux-gnu" % isa
               if isa != HOST else "")
    return subprocess.run([TALLY, *words], capture_output=True, text=True,
                          env=env, timeout=600)


def try_calls(isa, where):
    exe, profile = where + "/in-place", where + "/counts.tally"
    run(*compiler(isa, "gcc"), "-O1", "-o", exe, "tests/progs/count/in-place.c")
    for n in (0, 3):
        p = tally("count", "-o", profile, exe, str(n), isa=isa)
        tap.ok(p.returncode == 0 and p.stdout == "%d\n" % n and
               (NOTE in p.stderr) == (n > 0),
               "%s: %d calls of what stays: count" % (isa, n), [str(p)])
        text = tally("report", profile).stdout
        tap.ok(text.startswith("at least ") == (n > 0),
               "%s: %d calls of what stays: report" % (isa, n), [text[:300]])
        rows = json.loads(tally("report", "--json", "--by", "image",
                                profile).stdout)
        own = next(r for r in rows if r["image"] == "in-place")
        tap.ok(own["complete"] == (n == 0),
               "%s: %d calls of what stays: JSON" % (isa, n), [str(own)])
        only = tally("count", "--quiet", "--only", "main,stays", "-o", profile,
                     exe, str(n), isa=isa)
        tap.ok(NOTE not in only.stderr, "%s: what --only leaves out is not "
               "said" % isa, [only.stderr])


def try_library(isa, name, most, where):
    path = next((p for p in ("/usr/%s-linux-gnu/lib/%s" % (isa, name),
                             "/lib/%s-linux-gnu/%s" % (isa, name))
                 if os.path.exists(p)), None)
    done = json.loads(tally("instrument", "--json", path, "-o",
                            where + "/moved").stdout)
    left = ["%s..%s: %s" % (r["start"], r["end"], r["reason"])
            for r in done["in_place"] if not r["reason"].startswith(STAYS)]
    tap.ok(len(left) <= most, "%s: %s: nearly all is counted" % (isa, name),
           left)


for isa in ("aarch64", "x86_64"):
    with tempfile.TemporaryDirectory() as where:
        try_calls(isa, where)
        for name, most in LIBRARIES.items():
            try_library(isa, name, most, where)
tap.done()
