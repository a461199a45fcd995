"""
count_run: programs of tests/progs under `tally count`, of either machine
(use()), and plugins of qemu that see what originals do, or step-counts on the
machine itself. One folder holds all that a test makes: begin() is told which.
"""
import collections
import concurrent.futures
import glob
import os
import shutil
import sys
import tempfile

from rewrite_run import *

TALLY = os.path.abspath(TALLY)
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


def test_all(tap, jobs, *plugins):
    """
    jobs() gives (name, function, argument...), for each machine; the command
    line may choose machines and names.
    """
    only = [w for w in sys.argv[1:] if w not in ISAS]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        for isa in [w for w in sys.argv[1:] if w in ISAS] or ISAS:
            use(isa)
            if missing():
                tap.skip(isa, missing())
                continue
            begin(folder, *plugins if isa != HOST else ())
            todo = [(name, pool.submit(*job)) for name, *job in jobs()
                    if not only or name in only]
            for name, future in todo:
                tap.job("%s %s" % (isa, name), future)
    tap.done()


def room(name):
    """A folder for a job of that name."""
    here = os.path.join(where, ISA, name)
    os.makedirs(here)
    return here


def environment(here, **more):
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "HOME": here,
            "XDG_CACHE_HOME": where + "/cache",
            "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % ISA, **more}


def paths(sources):
    """Where sources are that PROGS leads to; %s is the machine."""
    return [os.path.normpath(PROGS + s.replace("%s", ISA)) for s in sources]


def absent(case):
    """Why a case is nothing for this machine: [], or what is missing."""
    if not compiler(ISA, case.cc):
        return "no %s" % case.cc
    return None if all(map(os.path.exists, paths(case.sources))) else []


def build(here, name, sources, *flags, cc="gcc"):
    """The program."""
    exe = os.path.join(here, name)
    made(*compiler(ISA, cc), "-w", *flags, "-o", exe,
         *(["-J", here] if cc == "gfortran" else []), *paths(sources),
         "-ldl", "-lpthread")
    return exe


def own_names(here, sources, *flags, cc="gcc"):
    """Functions of the sources themselves."""
    run(*compiler(ISA, cc), "-w", "-c", *flags, "-o", here + "/own.o",
        *paths(sources))
    return {n for _, _, n in Names.read(ISA, here + "/own.o")}


def finish(p, seconds=SECONDS):
    """The output of a process; none of its group hangs longer than it may."""
    try:
        return p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        return p.communicate()


def quiet(words, here, **env):
    """(status, output, messages) of a program, none of its group being left"""
    p = subprocess.Popen(words, env=environment(here, **env), cwd=here,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, errors="replace",
                         **ALONE)
    out, err = finish(p)
    return 128 - p.returncode if p.returncode < 0 else p.returncode, out, err


def original(here, exe, args, plugin=None, *options):
    """
    (status, output) of the original, and here/ran.PID is what a plugin of qemu
    or step-counts says of it.
    """
    words = [] if ISA == HOST else [EMULATOR, *options]
    if plugin:
        name, _, more = plugin.partition(",")
        words = [STEPS, here + "/ran"] if ISA == HOST else [
            *words, "-plugin", "%s/%s.so,out=%s/ran,%s" % (where, name, here,
                                                          more)]
    return quiet([*words, exe, *args], here)[:2]


def rows(here, what):
    """[image, address, image, address, count] of here/ran.PID"""
    for name in glob.glob(here + "/ran.*"):
        with open(name) as f:
            for line in f:
                w = line.split("\t")
                if w[0] == what:
                    yield w[1], int(w[2], 16), w[3], int(w[4], 16), int(w[5])


def ran(here, exe):
    """{address: count} of the program's own instructions"""
    out = collections.Counter()
    for image, address, _, _, n in rows(here, "ran"):
        out[address] += n if image == exe else 0
    return out


def retried(exe):
    """On the machine itself, what is done again if it was interrupted."""
    return [(s, s + size) for s, size, n in Names.read(ISA, exe)
            if n == "edges_swap" and ISA == HOST]


def steady(counts, ranges):
    """Counts of instructions but for those ranges."""
    return collections.Counter({a: n for a, n in counts.items() if
                                not any(s <= a < e for s, e in ranges)})


def tally_count(here, exe, args, name, *options, **env):
    """(status, output, messages, profile) of a counted run."""
    profile = "%s/%s.tally" % (here, name)
    return *quiet([TALLY, "count", "-o", profile, *options, "--", exe, *args],
                  here, **env), profile


def read_told(text):
    """{image: {address: count}} of what `tally export` says"""
    out = collections.defaultdict(dict)
    for line in text.splitlines():
        image, addr, n = line.split("\t")
        out[image][int(addr, 16)] = int(n)
    return out


def told(profile):
    return read_told(run(TALLY, "export", "--format", "tsv", profile))
