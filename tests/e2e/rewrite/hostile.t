#!/usr/bin/env python3
"""
rewrite/hostile: damaged files through the whole rewriter: a good file comes
out or a message that names the file, never a crash, never a hang. Mutants by
the hundred in one process: REWRITE_MUTANTS of each of the samples (`make asan`
sets 4000: 20,000 in all).
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
MUTANTS = os.environ.get("REWRITE_MUTANTS", "100")
MUTATE = os.path.join(os.path.dirname(TALLY), "tools/mutate-rewrite")
SMALL = ["-Wl,-z,max-page-size=4096", "-Wl,-z,noseparate-code", "-nostdlib",
         "-Wl,--unresolved-symbols=ignore-all", "-w"]
SAMPLES = [
    ("aarch64", "g++", "so", ["-O2", "-fPIC", "-shared"]),
    ("aarch64", "g++", "exe", ["-O2", "-fno-pie", "-no-pie"]),
    ("aarch64", "g++", "bare", ["-O1", "-fPIC", "-shared", "-s",
                                "-mbranch-protection=standard"]),
    ("aarch64", "clang++", "so", ["-O2", "-fPIC", "-shared",
                                  "-fuse-ld=lld"]),
    ("x86_64", "g++", "so", ["-O2", "-fPIC", "-shared"]),
]

with tempfile.TemporaryDirectory() as where:
    for isa, name, kind, flags in SAMPLES:
        title = "%s %s %s" % (isa, name, kind)
        cxx = compiler(isa, name)
        if not cxx:
            tap.skip(title, "no %s for %s" % (name, isa))
            continue
        path = os.path.join(where, title.replace(" ", "-"))
        try:
            run(*cxx, *flags, *SMALL, "-o", path, "tests/progs/hostile.cc")
        except Failed as e:
            tap.skip(title, "does not build: %s" % str(e).split("\n")[0])
            continue
        p = subprocess.run([MUTATE, "run", MUTANTS, path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, errors="replace",
                           env={**os.environ, "TMPDIR": where})
        m = re.search(r"(\d+) refused", p.stdout)
        tap.ok(p.returncode == 0 and m and
               int(m.group(1)) < 0.6 * int(MUTANTS),
               "%s mutants of %s do no harm" % (MUTANTS, title),
               ["status %d %s" % (p.returncode, p.stdout)] +
               p.stderr.splitlines()[-8:])
    tap.ok(not [n for n in os.listdir(where) if "mutant" in n],
           "nothing is left behind", os.listdir(where))
tap.done()
