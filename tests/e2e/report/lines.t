#!/usr/bin/env python3
"""
report/lines: `tally report --by line` of a program says what gcov says of the
same program compiled for gcov. gcov also knows lines without code: labels, and
where functions are declared, of which the debug information has only the brace.
It does not know lines of which all code is in functions that the compiler made:
a struct with a constructor that nobody wrote.
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
TALLY = os.path.abspath(TALLY)
ISA = "aarch64"
ENV = {**os.environ, "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA}


def gcov(here, source, flags):
    """{line: count} of the source itself."""
    compile_with(here, source, "gcov", [*flags, "--coverage"])
    run(*emulator(ISA), "./gcov", cwd=here, env=ENV)
    text = run(tool(ISA, "gcov"), "--json-format", "--stdout",
               "gcov-" + os.path.splitext(source)[0], cwd=here)
    return {l["line_number"]: l["count"] for f in json.loads(text)["files"]
            if os.path.basename(f["file"]) == source
            for l in merged(f["lines"])}


def merged(lines):
    """Instances of templates are listed one by one, too."""
    out = {}
    for l in lines:
        n = out.setdefault(l["line_number"],
                           {"line_number": l["line_number"], "count": 0})
        n["count"] += l["count"]
    return out.values()


def compile_with(here, source, name, flags):
    which = "g++" if source.endswith(".cc") else "gcc"
    run(*compiler(ISA, which), "-w", "-g", *flags, "-o", name, source,
        cwd=here)


def tally(here, source, flags):
    compile_with(here, source, "plain", flags)
    run(TALLY, "count", "-o", "profile", "./plain", cwd=here,
        env={**ENV, "XDG_CACHE_HOME": here})
    rows = json.loads(run(TALLY, "report", "--by", "line", "--all", "--json",
                          "profile", cwd=here))
    return {r["line"]: r["count"] for r in rows
            if os.path.basename(r["file"]) == source}


def try_source(source, flags):
    here = tempfile.mkdtemp(dir=where)
    shutil.copy("tests/progs/" + source, here)
    text = [""] + open(here + "/" + source).read().split("\n")
    want, got = gcov(here, source, flags), tally(here, source, flags)
    both = [n for n in want if n in got]
    bad = ["%d: %s, want %s: %s" % (n, got[n], want[n], text[n])
           for n in both if got[n] != want[n]]
    bad += ["%d has no count: %s" % (n, text[n]) for n in want
            if n not in got and not re.search(
                r"^\s*(case .*|default):$|^\S.*\)$", text[n])]
    bad += ["%d has a count: %s" % (n, text[n]) for n in got
            if n not in want and text[n].strip() not in ("{", "}") and
            not text[n].startswith("struct ")]
    never = sum(not want[n] for n in both)
    tap.ok(not bad and never and len(both) > 15,
           "%s: %d lines, %d of which never ran" % (source, len(both), never),
           bad[:8] or ["too few"])


with tempfile.TemporaryDirectory() as where:
    try_source("coverage.c", ["-O0"])
    try_source("lines.cc", ["-O0"])
    try_source("lines-made.cc", ["-O0"])
tap.done()
