"""
count_run: programs of tests/progs under `tally count`, of either machine
(use()), and plugins of qemu that see what originals do. One folder holds all
that a test makes: begin() is told which.
"""
import collections
import os
import shutil

from rewrite_run import *

TALLY = os.path.abspath(TALLY)
ISAS = ["aarch64"] + ["x86_64"] * (HOST == "x86_64")
STEPS = os.path.abspath(os.path.join(os.path.dirname(TALLY),
                                     "tools/step-counts"))
ISA = "aarch64"
EMULATOR = "qemu-" + ISA
TABLES = ["--param", "case-values-threshold=4"]


def use(isa):
    """Programs are those of the machine from now on."""
    global ISA, EMULATOR
    ISA, EMULATOR = isa, "qemu-" + isa


def missing():
    """What is not installed, or ''."""
    if ISA == HOST:
        return "" if tool(ISA, "gcc") else "no compiler"
    if not shutil.which(EMULATOR) or "-plugin" not in run(EMULATOR, "-h") or \
            not tool(ISA, "gcc"):
        return "no %s with plugins, or no compiler" % EMULATOR
    return ""


def begin(folder, *plugins):
    """All is in the folder from now on, and the plugins are built there."""
    global where
    where = os.path.realpath(folder)
    for p in plugins:
        run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
            "%s/%s.so" % (where, p), "tests/lib/%s.c" % p)
    return where


def environment(here, **more):
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "HOME": here,
            "XDG_CACHE_HOME": where + "/cache",
            "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA, **more}


def build(here, name, sources, *flags, cc="gcc"):
    """The program, of sources that PROGS leads to."""
    exe = os.path.join(here, name)
    run(*compiler(ISA, cc), "-w", *flags, "-o", exe,
        *(["-J", here] if cc == "gfortran" else []),
        *(os.path.normpath(PROGS + s) for s in sources), "-ldl", "-lpthread")
    return exe


def tally_count(here, exe, args, name, *options):
    """(status, output, profile) of a counted run."""
    profile = "%s/%s.tally" % (here, name)
    p = subprocess.run([TALLY, "count", "-o", profile, *options, "--", exe,
                        *args], env=environment(here), cwd=here,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=SECONDS)
    return p.returncode, p.stdout, profile


def told(profile):
    """{image: {address: count}}"""
    out = collections.defaultdict(dict)
    for line in run(TALLY, "export", "--format", "tsv", profile).splitlines():
        image, addr, n = line.split("\t")
        out[image][int(addr, 16)] = int(n)
    return out
