"""
launch: programs of either machine, run natively (or by an emulator) and by
`tally count --placement none`, to be compared.
"""
import os
import shutil
import subprocess
import sys

from cfg_oracle import EMULATED, HOST, ISAS, TALLY, Tap, compiler, packages, \
    tool
from patience import PATIENCE

TALLY = os.path.abspath(TALLY)
COUNT = [TALLY, "count", "--placement", "none",
         *os.environ.get("COUNT_OPTIONS", "").split()]
WATCHED = "--trace-kill" in COUNT # only on the machine itself
# a sanitized tally is started with the LD_PRELOAD that is the program's
os.environ.setdefault("ASAN_OPTIONS", "verify_asan_link_order=0")
SOURCES = os.path.abspath("tests/progs/launch")


class Machine:
    """How programs for a machine are made and run without tally."""

    def __init__(self, isa):
        self.isa = isa
        self.cc = compiler(isa, "gcc")
        self.emulator = [] if isa == HOST else ["qemu-" + isa]
        self.root = "" if isa == HOST else "/usr/%s-linux-gnu" % isa

    def missing(self):
        """What is not installed, or ''."""
        if not self.cc:
            return "no compiler for " + self.isa
        if self.emulator and not shutil.which(self.emulator[0]):
            return "no " + self.emulator[0]
        return ""

    def build(self, out, source, *flags):
        subprocess.run([*self.cc, "-D_GNU_SOURCE", "-O2", "-w", "-o", out,
                        os.path.join(SOURCES, source), *flags], check=True)
        return out

    def library(self, out, answer, *flags):
        """A library whose answer() is a number."""
        source = out + ".c"
        with open(source, "w") as f:
            f.write("int answer(void) { return %d; }\n" % answer)
        subprocess.run([*self.cc, "-O2", "-shared", "-fPIC", "-o", out, source,
                        *flags], check=True)
        return out

    def make_ready(self, lib, *count):
        """
        The library is in the cache of who counts by these words: nobody can
        ask an emulated tally for it later.
        """
        if EMULATED:
            with open(lib + ".user.c", "w") as f:
                f.write("int main(void) { return 0; }\n")
            self.build(lib + ".user", lib + ".user.c", "-Wl,--no-as-needed",
                       lib)
            run([*count, lib + ".user"])

    def plain(self, words, argv0=None, loader=()):
        """The words that run a program without tally."""
        if not self.emulator:
            return list(words)
        more = ["-L", self.root] if self.root else []
        for v in loader:
            more += ["-E", v]
        return self.emulator + ["-0", argv0 or words[0]] + more + list(words)


def machines():
    """The machine itself, and the other one."""
    return [Machine(i) for i in sorted(ISAS, key=lambda i: i != HOST)
            if i != HOST or not EMULATED]


def run(words, **more):
    """(status, output, messages) of a command."""
    more.setdefault("stdin", subprocess.DEVNULL)
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, errors="replace", timeout=PATIENCE, **more)
    return p.returncode, p.stdout, p.stderr


def differences(a, b):
    """Lines that only one of two texts has."""
    a, b = a.splitlines(), b.splitlines()
    return ["native: " + x for x in a if x not in b] + \
        ["tally:  " + x for x in b if x not in a] or \
        ([] if a == b else ["the order differs"])
