#!/usr/bin/env python3
"""tables: what counters cost, in the manner of the papers.

    bench/tables.py BUILD ISA ROOT [NAME...]

Every program of a root (machine.py) runs once, counted. As that tells how often
every edge ran, in it and its libraries, what other counters would have cost in
that very run is computed, not guessed (placements.c, loops.c):

    1  increments: a counter per block, edges with guessed weights, and with
       those of this run (Table 2 of Ball and Larus '92)
    2  edges, those with a counter, and those whose counter needs a jump
    3  increments of EProf(Ecnt), VProf(Ecnt), VProf(Vcnt)
    4  increments with maximum and minimum spanning trees
    5  jumps to counters, with and without what avoids them
    6  counters in innermost loops: in registers, trips known on entry
    7  bytes of new code by what they are for
"""
import json
import os
import subprocess
import sys
import tempfile

from counted import count
from machine import Machine
from work import SMALL, Inputs, works

BUILD = os.path.abspath(sys.argv[1])
MACHINE = Machine(*sys.argv[2:4])
NAMES = sys.argv[4:]
TALLY = BUILD + "/tally"


def tell(*command):
    return json.loads(subprocess.run(command, capture_output=True, text=True,
                                     check=True).stdout)


class Run:
    """A program that ran, and what is known of it."""

    def __init__(self, work, tmp):
        profile = count(TALLY, MACHINE, work, tmp + "/" + work.name,
                        tmp + "/cache")
        self.name = work.name
        self.by = tell(BUILD + "/bench/placements", profile)
        self.loops = tell(BUILD + "/bench/loops", profile)
        self.size = tell(TALLY, "instrument", "--json", work.program, "-o",
                         tmp + "/new")

    def increments(self, scheme):
        return self.by[scheme]["increments"]


def table(title, head, runs, row):
    """row(run): numbers, or words; below, means of those that are ratios"""
    print("\n-- " + title)
    print("%-11s" % "", *("%12s" % h for h in head))
    rows = [row(r) for r in runs]
    for r, cells in zip(runs, rows):
        print("%-11s" % r.name, *(shown(c) for c in cells))
    print("%-11s" % "mean", *(
        shown(sum(c) / len(c)) if isinstance(c[0], float) else "%12s" % ""
        for c in zip(*rows)))


def shown(cell):
    if isinstance(cell, float):
        return "%12.3f" % cell
    return "%12s" % format(cell, ",")


def per_thousand(run, n):
    return 1000 * n / run.by["instructions"]


def by_weights(run):
    slow, quick, feedback = (run.increments(s) for s in
                             ("redundant", "edges", "feedback"))
    return [slow, quick, slow / quick, feedback, slow / feedback,
            run.by["instructions"] / slow]


def by_edges(run):
    e = run.by["edges"]
    return [run.by["all_edges"], e["counters"] / run.by["all_edges"],
            e["jumping"] / run.by["all_edges"], run.by["passed"],
            e["increments"] / run.by["passed"], e["jumps"] / run.by["passed"]]


def by_problem(run):
    slow = run.increments("redundant")
    return [run.increments(s) / slow for s in (
        "edges", "vertex_edges", "vertices", "feedback",
        "vertex_edges_feedback", "vertices_feedback")]


def by_tree(run):
    return [per_thousand(run, run.increments(s)) for s in (
        "edges", "edges_minimum", "feedback", "feedback_minimum")]


def by_jumps(run):
    return [per_thousand(run, run.by[s][k]) for s, k in (
        ("edges_unpriced", "aside"), ("edges_unpriced", "jumps"),
        ("edges", "jumps"), ("edges", "led"),
        ("feedback_unpriced", "aside"), ("feedback_unpriced", "jumps"),
        ("feedback", "jumps"), ("feedback", "led"))]


def by_loops(run):
    n = run.loops
    return [per_thousand(run, n["increments"]),
            n["in_innermost"] / n["increments"],
            n["in_registers"] / n["increments"],
            n["instructions_saved"] / run.by["instructions"],
            n["trips_known"] / n["increments"]]


def by_bytes(run):
    s = run.size
    known = ["inserted_bytes", "jump_bytes", "table_bytes", "support_bytes",
             "link_bytes"]
    parts = [s[k] / s["text_bytes"] for k in known]
    return [s["text_bytes"], s["new_bytes"] / s["text_bytes"],
            s["new_bytes"] / s["text_bytes"] - sum(parts), *parts,
            s["data_bytes"] / s["text_bytes"]]


def show(runs):
    table("increments (1992, Table 2)",
          ["redundant", "edges", "ratio", "feedback", "ratio", "block size"],
          runs, by_weights)
    table("edges, and shares of them: static, and as they ran",
          ["edges", "counted", "with jump", "passed", "counted", "with jump"],
          runs, by_edges)
    table("increments by a counter per block's: weights guessed, and exact",
          ["E(E)", "V(E)", "V(V)", "E(E) exact", "V(E) exact", "V(V) exact"],
          runs, by_problem)
    table("increments per 1000 instructions, by spanning tree",
          ["guessed, max", "min", "exact, max", "min"], runs, by_tree)
    table("jumps to counters per 1000 instructions, guessed and exact weights",
          ["always aside", "in blocks", "priced", "before"] * 2, runs, by_jumps)
    table("increments per 1000 instructions; shares of them that are in "
          "innermost\n   loops, that dead registers could hold, and what that "
          "saves of all\n   instructions; and that are trips known on entry, "
          "at most",
          ["increments", "innermost", "registers", "saves", "trips known"],
          runs, by_loops)
    table("bytes of new code of the program's file, by those of its text;\n"
          "   and memory: counters, and room for code that counts for threads",
          ["text", "new", "moved", "counters", "jumps", "tables", "support",
           "links", "(memory)"], runs, by_bytes)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        show([Run(work, tmp) for work in
              works(MACHINE, SMALL, Inputs(tmp), NAMES)])


main()
