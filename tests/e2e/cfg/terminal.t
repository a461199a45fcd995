#!/usr/bin/env python3
"""
cfg/terminal: what `tally cfg` shows on a terminal and nowhere else. The text
is the same as in a pipe but for colours and the padding of columns.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

tap = Tap()

# a function that is no code on any machine
ODD = """
	.globl	odd
	.type	odd, %function
odd:	.long	0xffffffff
	.size	odd, 4
	.section .note.GNU-stack, "", %progbits
"""


def look(*words, streams=("stdout",), **env):
    """What tally writes to a terminal; env: variables beside TERM."""
    ours, theirs = os.openpty()
    where = {s: theirs for s in streams}
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", **env}
    p = subprocess.Popen([TALLY, *words], env=env, **{
        "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **where})
    os.close(theirs)
    out = b""
    try:
        while True:
            more = os.read(ours, 65536)
            if not more:
                break
            out += more
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    p.wait()
    return out.decode(errors="replace").replace("\r\n", "\n")


def bare(text):
    """Without colours and without padding."""
    return re.sub(r" +", " ", re.sub(r"\033\[\d*m", "", text))


def try_colours(*words):
    name = " ".join(w.split("/")[-1] for w in words)
    piped = run(TALLY, *words)
    seen = look(*words)
    tap.ok("\033" not in piped, "%s: a pipe has no colours" % name)
    tap.ok("\033[1m" in seen, "%s: a terminal has" % name)
    tap.ok(bare(seen) == bare(piped), "%s: the same text" % name)
    tap.ok(seen.count("\033[0m") >= len(re.findall(r"\033\[[1-9]", seen)),
           "%s: every colour ends" % name)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        seen = look(*words, **env)
        tap.ok("\033" not in seen and bare(seen) == bare(piped),
               "%s: %s has no colours" % (name, env))
    tap.ok("\033[1m" in look(*words, NO_COLOR=""),
           "%s: an empty NO_COLOR says nothing" % name)


def try_progress(small):
    """The status line: for large files, and gone at the end."""
    large = run(*compiler(HOST, "gcc"), "-print-prog-name=cc1").strip()
    both = ("stdout", "stderr")
    tap.ok(bare(look("cfg", small, streams=both)) ==
           bare(run(TALLY, "cfg", small)), "no status line: a small file")
    if not os.path.isfile(large):
        tap.skip("a status line", "no large file: cc1")
        return
    plain = look("cfg", large, streams=both, TERM="dumb")
    drawn = look("cfg", large, streams=both).split("\r\033[K")
    tap.ok(any(re.match(r"tally: jump tables \d+%$", d) for d in drawn),
           "a status line for a large file", drawn)
    tap.ok(bare(drawn[-1]) == bare(plain),
           "gone before anything is shown; none on a dumb terminal", drawn)


with tempfile.TemporaryDirectory() as where:
    path = os.path.join(where, "sample")
    cc = compiler(HOST, "gcc")
    if not cc:
        tap.skip("all", "no compiler")
        tap.done()
    with open(path + ".s", "w") as f:
        f.write(ODD)
    run(*cc, "-O2", "-w", "-shared", "-fPIC", "-o", path, path + ".s",
        "tests/progs/switch.c", "tests/progs/goto.c")
    for words in ("not understood +[1-9]", r"\d+ bytes in \d+ regions"):
        tap.ok(re.search(r"\033\[33m *%s.*\033\[0m$" % words,
                         look("cfg", path), re.M), "yellow: " + words)
    try_colours("cfg", path)
    try_colours("cfg", path, "dense")
    for way in ("--json", "--dot"):
        tap.ok("\033" not in look("cfg", path, "dense", way),
               "%s has no colours anywhere" % way)
    rows = re.findall(r"^.* taken +0x.*$", look(
        "cfg", path, "dense", NO_COLOR="1"), re.M)
    tap.ok(rows and len({r.index("fall") for r in rows}) == 1,
           "edges stand below each other", rows)
    try_progress(path)
tap.done()
