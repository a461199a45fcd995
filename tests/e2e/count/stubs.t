#!/usr/bin/env python3
"""
count/stubs: the linker's stubs are counted, those too that pointers lead to,
as they are a function's address in programs at fixed addresses.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()


def rows(profile):
    p = subprocess.run([TALLY, "report", "--json", profile], text=True,
                       capture_output=True)
    return {r["procedure"]: r for r in json.loads(p.stdout)
            if r["image"] == "stubs"}


def attempt(where, isa, link):
    exe, profile = (os.path.join(where, n) for n in ("stubs", "s.tally"))
    run(*compiler(isa, "gcc"), "-O1", "-fno-builtin", "-fno-pie", "-no-pie",
        link, "-o", exe, "tests/progs/count/stubs.c")
    want = World(isa).run(exe)
    env = dict(os.environ, QEMU_LD_PREFIX="/usr/%s-linux-gnu" % isa
               if isa != HOST else "")
    for options in ([], ["--placement", "redundant"], ["--trap-unexpected"]):
        p = subprocess.run([TALLY, "count", "--quiet", "-o", profile, *options,
                            exe], capture_output=True, text=True, env=env)
        got = rows(profile)
        calls = [got.get(n + "@plt", {}).get("calls")
                 for n in ("strcmp", "rand")]
        tap.ok((p.returncode, p.stdout) == want and
               calls == [100, 7],
               "%s %s %s" % (isa, link, " ".join(options)),
               [str(want), p.stdout, p.stderr, str(calls)])


with tempfile.TemporaryDirectory() as where:
    os.environ["XDG_CACHE_HOME"] = os.path.join(where, "cache")
    for isa in each_machine(tap):
        for link in ("-Wl,-z,lazy", "-Wl,-z,now"):
            attempt(where, isa, link)
tap.done()
