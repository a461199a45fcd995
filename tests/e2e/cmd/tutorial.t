#!/usr/bin/env python3
"""
tutorial: the commands of tutorials (PAGES) work, in their order, and say what is
written there: the same headings, and rows with columns of the same kinds
(numbers, shares, addresses, words). The numbers themselves, and instructions,
are another machine's. `tests/e2e/cmd/tutorial.t --write` writes down what they
say now.
"""
import re
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

PAGES = ["doc/tutorial.md"]
if HOST == "x86_64":
    PAGES.append("doc/everything-that-happened.md")
KINDS = (("share", r"[-+]?[\d.]+%"), ("address", r"0x[0-9a-f]+"),
         ("number", r"[-+]?[\d,.]+:?|-:?"))


class Step:
    """A command of the page, and the output that is written below it."""

    def __init__(self, text, line):
        self.text, self.line, self.output = text, line, []


def steps(lines):
    out = []
    for i, line in enumerate(lines):
        if not line.startswith("    "):
            continue
        text = line[4:]
        if text.startswith("$ "):
            out.append(Step(text[2:], i))
        elif out and re.match(r">( |$)", text) and not out[-1].output:
            out[-1].text += "\n" + text[2:]
        elif out:
            out[-1].output.append(text)
    return out


def do(step, where):
    """(status, lines) of a command, as it is seen on a terminal."""
    env = {**os.environ, "XDG_CACHE_HOME": where, "LC_ALL": "C",
           "PATH": os.path.dirname(TALLY) + ":" + os.environ["PATH"]}
    p = subprocess.run(["bash", "-c", step.text], cwd=where, env=env,
                       text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    return p.returncode, [l.rstrip() for l in p.stdout.splitlines()]


def kind(word):
    return next((k for k, p in KINDS if re.fullmatch(p, word)), word)


def shape(lines):
    """
    (headings, rows): a heading is its words, numbers aside; a row is what its
    columns are, up to the first word.
    """
    known = {k for k, _ in KINDS}
    headings, rows = set(), set()
    for line in lines:
        words = [kind(w) for w in line.split()]
        first = next((i for i, w in enumerate(words) if w not in known),
                     len(words))
        (rows if first else headings).add(tuple(words[:first] or words))
    return headings, rows


def check(t, step, status, got):
    name = step.text.splitlines()[0]
    want = step.output
    if " diff " in name:        # something changed: that is its answer
        status -= 1
    t.same(status, 0, "works: " + name)
    if "..." in want:           # the page leaves out the rest
        want = want[:want.index("...")]
        got = got[:len(want)]
    headings, rows = shape(want)
    t.ok(headings <= shape(got)[0] and (not rows or rows & shape(got)[1]) and
         bool(want) == bool(got), "says: " + name,
         ["said:"] + got + ["written:"] + want)


def write(name, lines, todo, where):
    """The page with the outputs of today."""
    outputs = {s.line: [*do(s, where)[1]] for s in todo}
    page, skip = [], False
    for i, line in enumerate(lines):
        command = i in outputs
        more = re.match(r"    >( |$)", line)
        if skip and not command and (not line or line.startswith("    ")):
            continue                        # what it said then
        if skip and not command:
            page.append("")
        page.append(line)
        skip = False
        if command:
            said = outputs[i]
        if (command or more) and not re.match(r"    >( |$)", lines[i + 1]):
            page += [("    " + o.replace(where, "/home/me")).rstrip()
                     for o in said]
            skip = True
    with open(name, "w") as f:
        f.write("\n".join(page))


def main():
    if EMULATED or not shutil.which("dot"):
        print("1..0 # SKIP programs of this machine are counted, and drawn")
        return
    t = None
    for name in PAGES:
        with tempfile.TemporaryDirectory() as where:
            lines = open(name).read().split("\n")
            todo = steps(lines)
            if sys.argv[1:] == ["--write"]:
                write(name, lines, todo, where)
                continue
            t = t or Asker(where)
            t.ok(len(todo) > 10, "there are commands in " + name)
            for step in todo:
                check(t, step, *do(step, where))
    if t:
        t.done()


main()
