#!/usr/bin/env python3
"""
count/names: what `tally count` is asked for by name, and what it says to the
user. Libraries and procedures that there are not are errors, before the program
runs where that can be known; lists of procedures in files, and patterns; what
to do about scripts and programs that execute others, and about processes that
run already. Every message is one line.
"""
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

SOURCE = """
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int one_apple(int n) { return n * 3 + 1; }
__attribute__((noinline)) int one_pear(int n) { return n * 5 + 2; }
__attribute__((noinline)) int two_plums(int n) { return n * 7 + 3; }
int main(int argc, char **argv)
{
	printf("%d\\n", one_apple(argc) + one_pear(argc) + two_plums(argc));
	fflush(stdout);
	if (argc > 2) execv(argv[1], argv + 1);
	return 0;
}
"""
LOADS = """
#include <dlfcn.h>
int main(int argc, char **argv)
{
	return argc < 2 || !dlopen(argv[1], RTLD_NOW);
}
"""


def write(t, name, text):
    with open(t.path(name), "w") as f:
        f.write(text)
    return t.path(name)


def count(t, *words):
    """(status, output, messages without a listing, whether there is one)"""
    p = subprocess.run([TALLY, "count", "-o", t.path("profile"), *words],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, cwd=t.where, env=ENV)
    lines = p.stderr.splitlines()
    said = [l for l in lines if l.startswith("tally")]
    return p.returncode, p.stdout, said, len(lines) > len(said)


def counted(t, *words):
    """Names of procedures that the profile has"""
    status, _, said, _ = count(t, *words)
    rows = json.loads(run(TALLY, "report", "--all", "--json",
                          t.path("profile")))
    return status, said, {r["procedure"] for r in rows}


def names(t):
    no_proc = "no procedure that can be counted is called '%s' (--only)"
    no_lib = "no library of the program is called '%s' (--libs)"
    write(t, "profile", "mine")
    for words, said in ((["--only", "nobody"], no_proc % "nobody"),
                        (["--only", "main,nob*"], no_proc % "nob*"),
                        (["--libs", "libnone"], no_lib % "libnone"),
                        (["--libs", "libc,libz"], no_lib % "libz")):
        t.same((*count(t, *words, "./prog"), open(t.path("profile")).read()),
               (125, "", ["tally: " + said], False, "mine"),
               "before it runs: " + " ".join(words))
    t.same(counted(t, "--only", "one_*,main", "./prog"),
           (0, [], {"one_apple", "one_pear", "main"}), "a pattern")
    write(t, "list", "# fruit\n\n  two_plums \n*_pear\n")
    t.same(counted(t, "--only", "@list", "./prog"),
           (0, [], {"one_pear", "two_plums"}), "a file of names")
    write(t, "long", "main\n" + "one_apple\n" * 1000)
    t.same(counted(t, "--only=@long", "./prog"),
           (0, [], {"one_apple", "main"}), "a long one")
    for words, said in ((["--only", "@nothing"], "nothing: No such file or "
                         "directory"), (["--only", "@empty"], "")):
        write(t, "empty", "# none\n")
        status, out, lines, _ = count(t, *words, "./prog")
        t.ok(status == 125 and not out and said in lines[0],
             "refused: " + words[1], lines)


def loaded(t):
    """A library that comes later is known at the end."""
    t.same(counted(t, "--libs", "liblate", "--only", "late_*", "./loads",
                   "./liblate.so")[0], 0, "a library that comes later")
    t.same(count(t, "--libs", "libnone", "./loads", "./liblate.so")[::2],
           (125, ["tally: nothing of liblate.so, libc.so.6 is measured: left "
                  "out by --libs", "tally: no library that was loaded is "
                  "called 'libnone' (--libs)"]), "one that does not come")
    t.same(count(t, "--only", "nobody", "./loads", "./nothing.so")[0], 1,
           "the program's own failure comes first")


def others(t):
    script = write(t, "script", "#!/bin/sh\necho said\n")
    os.chmod(script, 0o755)
    status, out, said, listing = count(t, "./script")
    t.ok((status, out, len(said), listing) == (0, "said\n", 1, True) and
         "--follow" in said[0] and "/bin/sh" in said[0],
         "a script: --follow is suggested", said)
    said = count(t, "./prog", "./prog", "x")[2]
    t.ok(len(said) == 1 and "--follow" in said[0],
         "a program that executes another: so it is", said)
    t.same(count(t, "./prog")[2], [], "one that does not: not a word")
    t.same(count(t, "--follow", "./script")[2], [], "nor with --follow")
    t.same(count(t, "--quiet", "./script")[2:], ([], False), "--quiet")
    for words in (["-p", "1"], ["-p1"], ["--pid=1"]):
        status, out, said, _ = count(t, *words)
        t.ok(status == 125 and "tally daemon" in said[0] and
             "has to start" in said[0], words[0] + ": what to use instead",
             said)


def instrumented(t):
    p = subprocess.run([TALLY, "instrument", "--only", "nobody",
                        t.path("prog"), "-o", t.path("new")], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    t.same((p.returncode, p.stdout, p.stderr, os.path.exists(t.path("new"))),
           (2, "", "tally: %s: no procedure is called 'nobody' (--only)\n" %
            t.path("prog"), False), "instrument --only")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    if EMULATED:
        print("1..0 # SKIP programs of this machine are counted")
        sys.exit(0)
    ENV = {**os.environ, "XDG_CACHE_HOME": where, "LC_ALL": "C"}
    cc = [*compiler(HOST, "gcc"), "-O1", "-w"]
    for name, text in (("prog", SOURCE), ("loads", LOADS)):
        run(*cc, "-o", t.path(name), write(t, name + ".c", text))
    run(*cc, "-shared", "-fPIC", "-o", t.path("liblate.so"),
        write(t, "late.c", "int late_one(int n) { return n + 1; }\n"))
    names(t)
    loaded(t)
    others(t)
    instrumented(t)
    t.done()
