#!/usr/bin/env python3
"""
count/outside: a program that is counted ends as it does without, although its
profile is cut off while it runs, or a tracer steps through it; and its own file
has the same name, however it asks for it.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

TALLY = os.path.abspath(TALLY)
tap = Tap()


def ended(*words):
    p = subprocess.run(words, capture_output=True, text=True, env=env,
                       timeout=PATIENCE)
    return p.returncode, p.stdout


with tempfile.TemporaryDirectory() as folder:
    env = dict(os.environ, XDG_CACHE_HOME=folder + "/cache")
    for form, flags in ("dynamic", []), ("static", ["-static"]):
        prog = os.path.join(folder, form)
        run("gcc", "-O1", *flags, "-o", prog, "tests/progs/outside.c")
        profile = os.path.join(folder, "profile")
        for words in ["cut", profile], ["step"], ["names"]:
            with open(profile, "w"):
                pass
            want = ended(prog, *words)
            got = ended(TALLY, "count", "--quiet", "-o", profile, prog,
                        *words)
            tap.ok(got == want, "%s: %s" % (form, words[0]),
                   ["got: %r" % (got,), "want: %r" % (want,)])
tap.done()
