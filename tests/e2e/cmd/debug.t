#!/usr/bin/env python3
"""
debug: TALLY_DEBUG shows what was decided: each domain has something to say in
a command that it is about, and says nothing when others are asked for. Without
the variable there is nothing. The program that is counted prints and ends as
it does by itself. A domain that is not there is refused, with those that are.
"""
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

DOMAINS = ("cfg", "rewrite", "place", "launch", "count", "sample", "store")
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	fprintf(stderr, "to err\n");
	printf("to out\n");
	fflush(stdout);
	if (argc > 1)
		execl(argv[0], argv[0], NULL);
	return 37;
}
"""


def debugged(t, domains, *words):
    """(status, output, {domain: lines}, all other messages)"""
    env = {**os.environ, "XDG_CACHE_HOME": t.where}
    env.pop("TALLY_DEBUG", None)
    if domains is not None:
        env["TALLY_DEBUG"] = domains
    status, out, err = t.tally(*words, env=env)
    said, others = {}, ""
    for line in err.splitlines(keepends=True):
        part = line.split(": ")
        if part[0] == "tally" and part[1] in DOMAINS:
            said.setdefault(part[1], []).append(line)
        else:
            others += line
    return status, out, said, others


def count(*words):
    return ["count", "--quiet", "--libs", "none", *words, "./program"]


def check_said(t, wanted, phrases, *words):
    """The domains say something, with these phrases, and no others do."""
    status, _, said, _ = debugged(t, ",".join(wanted), *words)
    title = "%s: %s" % (",".join(wanted), " ".join(words))
    t.same(sorted(said), sorted(wanted), title)
    text = "".join(l for lines in said.values() for l in lines)
    lacks = [p for p in phrases if p not in text]
    t.ok(not lacks, title + ": what it is", [lacks, *text.splitlines()])
    return status


def check_silent(t):
    """Not a word more than without the variable; the program's are whole."""
    want = (37, "to out\n", {}, "to err\n")
    for domains in (None, "", ",", "store"):
        t.same(debugged(t, domains, *count()), want,
               "nothing is said: %r" % domains)
    status, out, said, others = debugged(t, "all", *count())
    t.same((status, out, others), (want[0], want[1], want[3]),
           "all: the program is as it was")
    t.ok({"launch", "count"} <= set(said), "all: something is said", said)


def check_follow(t):
    """What the program executes is prepared by tally, too."""
    _, _, said, _ = debugged(t, "launch", "count", "--quiet", "--follow",
                             "./program", "again")
    runs = [l for l in said.get("launch", ()) if "program: the cache has" in l]
    t.ok(len(runs) > 1, "the program that is executed is told of",
         said.get("launch", ()))


def check_counting(t):
    check_said(t, ["cfg"], ["program: ", " procedures, ", " blocks"],
               "cfg", "./program")
    # in the cache of this test there is nothing yet
    check_said(t, ["rewrite", "place", "launch"],
               [" bytes of code move to ", "stays in place: ",
                " main: ", "weights guessed", " counters at ",
                "not in the cache: it is rewritten", "runs as ",
                "audit module: "], *count("-o", "first"))
    check_said(t, ["launch"], ["the cache has "], *count("-o", "second"))
    check_said(t, ["count"], ["finished profile", " are read",
                              "the map of "], "report", "first")
    check_said(t, ["place"], ["weights are from image", "weights measured"],
               *count("--weights", "first", "-o", "third"))
    with open(t.path("broken"), "wb") as f:
        f.write(open(t.path("program"), "rb").read()[:3000])
    os.chmod(t.path("broken"), 0o755)
    check_said(t, ["launch"], ["broken: "], "count", "--quiet", "-o", "fourth",
               "--libs", "none", "./broken")


def check_sampling(t):
    status, _, _, others = debugged(t, None, "record", "-o", "db", "sleep",
                                    "0")
    if status:
        t.skip("samples", others.strip())
        return
    check_said(t, ["sample", "store"],
               ["rings of process ", "opened to be written",
                "begins: record"], "record", "-o", "db", "sleep", "0")
    check_said(t, ["store"], ["opened to be read, version "], "report", "db")


def check_wrong(t):
    text = "TALLY_DEBUG: there is no domain 'cgf'; there are %s, all\n" % \
        ", ".join(DOMAINS)
    for words, want in ((["report", "first"], 2), (count(), 125)):
        for domains in ("cgf", "cfg,cgf", "all,cgf,store"):
            status, out, said, others = debugged(t, domains, *words)
            t.ok(status == want and not out and not said and
                 others.startswith("tally %s: %s" % (words[0], text)) and
                 others.count("\n") == 2,
                 "refused: %s: %s" % (domains, words[0]), [status, others])


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    with open(t.path("program.c"), "w") as f:
        f.write(PROGRAM)
    run(*compiler(HOST, "gcc"), "-O1", "-o", t.path("program"),
        t.path("program.c"))
    check_counting(t)
    check_silent(t)
    check_follow(t)
    check_sampling(t)
    check_wrong(t)
    t.done()
