"""counted: the ways to count that are measured, and runs of them.

    moved      nothing inserted
    edges      the default
    feedback   the same, with weights from a run that did the same work
    after      a counter after every call
    redundant  a counter in every block
"""
import json
import os
import pathlib
import re
import resource
import subprocess

BOLT = "llvm-bolt-22"
WAYS = {  # options of `tally count` and `tally instrument`
    "moved": ["--placement", "none"],
    "edges": [],
    "feedback": ["--weights", "PROFILE"],
    "after": ["--after-calls"],
    "redundant": ["--placement", "redundant"],
}


def options(way, profile):
    return [profile if w == "PROFILE" else w for w in WAYS[way]]


def count(tally, machine, work, out, cache, words=()):
    """The profile `out` of a run with these options."""
    subprocess.run([tally, "count", "--quiet", "-o", out, *words, "--",
                    work.program, *work.args], env=machine.environment(cache),
                   stdin=open(work.given or "/dev/null"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return out


def timed(command, given, env):
    """(status and output, seconds of user time)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    p = subprocess.run(command, stdin=open(given or "/dev/null"),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env={**os.environ, **env})
    return (p.returncode, p.stdout), resource.getrusage(
        resource.RUSAGE_CHILDREN).ru_utime - before


def figures(tally, profile):
    """instructions, increments, and those of a counter in every block"""
    images = json.loads(subprocess.run(
        [tally, "report", "--by", "image", "--json", profile],
        capture_output=True, text=True).stdout)
    return [sum(i[k] or 0 for i in images) for k in
            ("instructions", "increments", "redundant_increments")]


def gcov_increments(folder):
    """the sum of the counters that programs with --coverage left there"""
    total = 0
    for f in pathlib.Path(folder).rglob("*.gcda"):
        said = subprocess.run(["gcov-dump", "-l", f], capture_output=True,
                              text=True).stdout
        for line in said.splitlines():
            row = re.match(r"\s*\d+:((?: \d+)+) *$", line[len(str(f)) + 1:])
            total += sum(map(int, row[1].split())) if row else 0
    return total
