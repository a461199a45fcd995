#!/usr/bin/env python3
"""
count/rows: every image that ran is a row of `report --by image`. One that was
not counted is unknown, with the reason: a library, or a program, that cannot be
rewritten, loaded at the start, later, by children or by programs that are
executed; and what --libs leaves out. `count` says so in one line at its end.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

TALLY = os.path.abspath(TALLY)
tap = Tap()
LIBRARY = "int %s_one(int n) { return n + 1; }\n"
SOURCE = """
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int near_one(int n);
int main(int argc, char **argv)
{
	int status = near_one(1) - 2;
	for (int i = 0; i < 9; i++) {
		void *h = dlopen(argv[1], RTLD_NOW);
		status |= !h || dlclose(h);
	}
	if (!fork())
		_exit(!dlopen(argv[1], RTLD_NOW));
	wait(0);
	if (argc > 2)
		execv(argv[2], argv + 2);
	return status;
}
"""
STATIC = "int called(void); int main(void) { return called() - 7; }\n"
DONE = "was already rewritten, by tally"


def same(got, want, name):
    tap.ok(got == want, name, ["got: %r" % (got,), "want: %r" % (want,)])


class Images:
    """Programs and libraries of a machine, in a folder."""

    def __init__(self, where, isa):
        self.where, self.isa = where, isa
        self.env = {**os.environ, "XDG_CACHE_HOME": where + "/cache",
                    "LC_ALL": "C", "QEMU_LD_PREFIX":
                    "/usr/%s-linux-gnu" % isa if isa != HOST else ""}
        for name in "near", "late":
            self.cc("lib%s.so" % name, LIBRARY % name, "-shared", "-fPIC")
        for name in "near", "late":
            # moved, nothing inserted: to be rewritten again is refused
            run(TALLY, "instrument", "--placement", "none",
                "%s/lib%s.so" % (where, name), "-o",
                "%s/done-lib%s.so" % (where, name))
        self.cc("prog", SOURCE, "-Wl,-rpath," + where, where + "/libnear.so")
        self.cc("odd", SOURCE, "-Wl,-rpath," + where,
                where + "/done-libnear.so")
        self.cc("fixed", STATIC, "-static", "-no-pie", "-DINFOS",
                "tests/progs/pinned.S")

    def cc(self, name, text, *flags):
        source = "%s/%s.c" % (self.where, name)
        with open(source, "w") as f:
            f.write(text)
        run(*compiler(self.isa, "gcc"), "-w", "-O1", "-o",
            "%s/%s" % (self.where, name), source, *flags)

    def count(self, *words, profile="profile"):
        """(status, messages) of a run; its counts are in `profile`."""
        p = subprocess.run([TALLY, "count", "-o", profile, *words],
                           cwd=self.where, env=self.env, text=True,
                           capture_output=True)
        return p.returncode, [l for l in p.stderr.splitlines()
                              if l.startswith("tally")]

    def tell(self, *words):
        p = subprocess.run([TALLY, *words], cwd=self.where, text=True,
                           capture_output=True)
        return json.loads(p.stdout)

    def rows(self, profile="profile"):
        """{image: why it is unknown, or whether it is complete}"""
        rows = self.tell("report", "--by", "image", "--json", profile)
        same(len({r["path"] for r in rows}), len(rows), "one row of each")
        return {r["image"]: r.get("unknown", r["complete"]) for r in rows}


def refused(x):
    """Libraries that cannot be rewritten, linked and loaded later."""
    status, said = x.count("./odd", "./done-liblate.so")
    why = x.rows().get("done-liblate.so")
    tap.ok(isinstance(why, str) and why.startswith(DONE), "why", [str(why)])
    same((status, said), (0, ["tally: nothing of done-liblate.so, "
                              "done-libnear.so is measured: " + why]),
         x.isa + ": one line at the end")
    same(x.rows(), {"odd": True, "libc.so.6": True, "done-libnear.so": why,
                    "done-liblate.so": why}, x.isa + ": a row of each")
    rows = x.tell("report", "--by", "image", "--json", "profile")
    same([r["path"] for r in rows if r["image"].startswith("done")],
         [os.path.join(x.where, n) for n in ("done-liblate.so",
                                             "done-libnear.so")],
         x.isa + ": by the names of their files")
    same([(r["instructions"], r["counters"], r["increments"])
          for r in rows if r["image"].startswith("done")],
         [(None, 0, 0)] * 2, x.isa + ": of which nothing is known")
    same([r["complete"] for r in x.tell("report", "--by", "process", "--json",
                                        "profile")], [False, False],
         x.isa + ": neither process is complete")
    said = x.count("--quiet", "./odd", "./done-liblate.so")[1]
    tap.ok(len(said) == 1 and "not rewritten" in said[0],
           x.isa + ": --quiet: what is known before it starts", said)


def left_out(x):
    status, said = x.count("--libs", "liblate", "./prog", "./liblate.so")
    why = "left out by --libs"
    same((status, said), (0, ["tally: nothing of libnear.so, libc.so.6 is "
                              "measured: " + why]), x.isa + ": --libs")
    same(x.rows(), {"prog": True, "liblate.so": True, "libnear.so": why,
                    "libc.so.6": why}, x.isa + ": --libs: rows")
    os.rename(x.where + "/profile", x.where + "/before")
    status, said = x.count("./prog", "./liblate.so")
    same((status, said, set(x.rows().values())), (0, [], {True}),
         x.isa + ": all are counted, nothing is said")
    p = subprocess.run([TALLY, "diff", "before", "profile"], cwd=x.where,
                       text=True, capture_output=True)
    same((p.returncode, p.stderr, "nothing changed" in p.stdout), (
        0, "tally: nothing of libc.so.6, libnear.so is compared: it is not "
        "measured in both runs\n", True), x.isa + ": diff compares the others")


def programs(x):
    """A program that stays, itself and executed by another."""
    status, said = x.count("./fixed")
    rows = x.rows()
    tap.ok(status == 0 and list(rows) == ["fixed"] and
           "no code can be moved" in rows["fixed"] and
           "tally: nothing of fixed is measured: " + rows["fixed"] in said,
           x.isa + ": a static program", [str(rows), *said])
    if x.isa != HOST: # an emulator's programs execute only what is moved
        return
    why = rows["fixed"]
    status, said = x.count("--follow", "./prog", "./liblate.so", "./fixed")
    same((status, said, x.rows()), (0, [
        "tally: nothing of fixed is measured: " + why],
        {"prog": True, "libc.so.6": True, "liblate.so": True,
         "libnear.so": True, "fixed": why}), x.isa + ": executed")


def full(x):
    """A disk that has no room for the counters of the C library."""
    disk = os.path.join(x.where, "disk")
    os.mkdir(disk)
    if os.geteuid() or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=200k", "none", disk],
            stderr=subprocess.DEVNULL).returncode:
        tap.skip(x.isa + ": a full disk", "cannot mount a small one")
        return
    try:
        status, said = x.count("./prog", "./liblate.so", profile=disk + "/p")
        text = run(TALLY, "report", "--by", "image", disk + "/p")
        same((status, x.rows(disk + "/p")["libc.so.6"], text.split()[:2]),
             (0, "there was no room on disk for its counts",
              ["at", "least"]), x.isa + ": a full disk")
    finally:
        subprocess.run(["umount", disk], check=True)


with tempfile.TemporaryDirectory() as folder:
    for isa in each_machine(tap):
        where = os.path.join(os.path.realpath(folder), isa)
        os.mkdir(where)
        x = Images(where, isa)
        refused(x)
        left_out(x)
        programs(x)
        full(x)
tap.done()
