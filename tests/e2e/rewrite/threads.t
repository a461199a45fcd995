#!/usr/bin/env python3
"""
threads: the same bytes come out of any number of threads, with counters on
edges and in blocks, for libraries of both machines that are large enough to be
shared. A number of threads that is none is refused.
"""
import glob
import hashlib
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

THREADS = (1, 2, 7, 1000)
FILES = [f for pattern in (
    "/usr/lib/*-linux-gnu/libstdc++.so.6", "/lib/*-linux-gnu/libc.so.6",
    "/usr/*-linux-gnu/lib/libstdc++.so.6", "/usr/*-linux-gnu/lib/libc.so.6")
    for f in sorted(glob.glob(pattern))]


def rewritten(t, threads, path, *words):
    """(status, sum of what was written)"""
    out = os.path.join(t.where, "out")
    if os.path.exists(out):
        os.unlink(out)
    env = {**os.environ, "TALLY_THREADS": str(threads)}
    status, _, err = t.tally("instrument", *words, path, "-o", out, env=env)
    if status:
        return status, err
    return status, hashlib.sha256(open(out, "rb").read()).hexdigest()


def check(t):
    t.ok(len(FILES) >= 2, "there are libraries", FILES)
    for path in FILES:
        for words in ((), ("--placement", "vertices", "--calls"))[
                :1 if "stdc++" in path else 2]:
            title = "%s %s" % (path, " ".join(words))
            by = {n: rewritten(t, n, path, *words) for n in THREADS}
            t.ok(by[1][0] == 0 and len(set(by.values())) == 1, title, [by])
    for wrong in ("0", "many", "-1", "2x", " 2"):
        status, message = rewritten(t, wrong, FILES[0])
        t.ok(status == 2 and "TALLY_THREADS is '%s'" % wrong in message,
             "refused: '%s'" % wrong, [status, message])

with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    check(t)
    t.done()
