#!/usr/bin/env python3
"""
cfg/again: tables of which the first look sees too much or too little, and the
second the truth (tests/progs/again.S, src/cfg/jumps/second_pass.c), for both machines.
"""
import os
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

tap = Tap()

# procedure: entries of its table, and where they lead
TRUTH = {
    "shrink": (64, ["shrink_case"]),
    "shrink_next": (2, ["shrink_next_case"]),
    "stay": (64, ["stay_case"]),
    "byte": (200, ["byte_case"]),
    "byte_next": (56, ["byte_next_case"]),
    "grow": (3, ["grow_case", "grow_head", "grow_middle"]),
}


def build(isa, where):
    """The file without its labels; and the labels."""
    full = os.path.join(where, isa + ".so")
    bare = full + ".bare"
    run(*compiler(isa, "gcc"), "-shared", "-nostdlib", "-o", full,
        "tests/progs/again.S")
    run(tool(isa, "strip"), "-o", bare, full)
    words = [row.split() for row in run(tool(isa, "nm"), full).splitlines()]
    return bare, {w[2]: int(w[0], 16) for w in words if len(w) == 3}


def differences(dispatch, label, name):
    """What is not as it should be of a procedure's jump."""
    count, targets = TRUTH[name]
    d = dispatch.get(label[name + "_jump"])
    if not d:
        return ["there is no dispatch"]
    said = {k: d.get(k) for k in ("status", "table", "entries", "targets")}
    truth = {
        "status": "approximated", "table": hex(label[name + "_table"]),
        "entries": count,
        "targets": [hex(a) for a in sorted(label[t] for t in targets)],
    }
    return ["%s: %s, not %s" % (k, said[k], truth[k])
            for k in truth if said[k] != truth[k]]


with tempfile.TemporaryDirectory() as where:
    for isa in ISAS:
        if not compiler(isa, "gcc") or not tool(isa, "nm"):
            tap.skip(isa, "no gcc for it")
            continue
        bare, label = build(isa, where)
        dispatch = Graph(bare).dispatch
        for name in TRUTH:
            tap.none(differences(dispatch, label, name),
                     "%s %s" % (isa, name))
tap.done()
