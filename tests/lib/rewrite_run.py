"""
rewrite_run: programs and what the rewriter makes of them, side by side.

A world is a machine's C library and compiler libraries, rewritten in one way,
in a tree of their own:

    moved      `tally instrument --placement none`
    trap       the same with --trap-unexpected
    poison     all that is dead is overwritten, before every instruction and
               on every edge
    counted    counters on edges
    insert     code before every block and on every edge (insert-everywhere)
    crowded    the same with four registers and the flags overwritten

A program that is rewritten the same way runs in it, natively or under qemu,
and has to do what the original does among the original libraries. Trees are
kept in the build folder and made anew when tally changes.
"""
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess

from cfg_oracle import *
from patience import PATIENCE

ISAS = [i for i in ISAS if i != HOST or not EMULATED]
PROGS = "tests/progs/rewrite/"
INSERT = os.path.join(os.path.dirname(TALLY), "tools/insert-everywhere")
WAYS = {
    "moved": [TALLY, "instrument", "--placement", "none", "%s", "-o", "%s"],
    "trap": [TALLY, "instrument", "--placement", "none", "--trap-unexpected",
             "%s", "-o", "%s"],
    "poison": [TALLY, "instrument", "--placement", "poison", "%s", "-o", "%s"],
    "insert": [INSERT, "-m", "%s", "%s"],
    "crowded": [INSERT, "-r", "4", "-m", "-f", "%s", "%s"],
}
# leaves a file behind, and has tests of its own
COUNTED = [TALLY, "instrument", "%s", "-o", "%s"]
LIBRARIES = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1",
             "libgfortran.so.5", "libgomp.so.1", "libatomic.so.1",
             "libpthread.so.0", "libdl.so.2", "librt.so.1", "libquadmath.so.0"]
LOADER = {"aarch64": "lib/ld-linux-aarch64.so.1",
          "x86_64": "lib64/ld-linux-x86-64.so.2"}
# what a handler needs that calls others: with -mstackrealign it does not mind
UNALIGNED = "qemu 7.2 calls x86-64 handlers with a stack that is not aligned"
SECONDS = PATIENCE  # a program that runs longer hangs


def rewrite(way, src, dst):
    """Rewrites a file; raises Failed if that is refused."""
    words = COUNTED if way == "counted" else WAYS[way]
    return run(*words[:words.index("%s")], *fill(words, src, dst))


def fill(words, *values):
    values = iter(values)
    return [next(values) if w == "%s" else w
            for w in words[words.index("%s"):]]


def changed():
    """What trees depend on."""
    return "".join("%s %d\n" % (p, os.stat(p).st_mtime_ns)
                   for p in (TALLY, INSERT))


def emulator(isa):
    """The words before a program of the machine, or None."""
    if isa == HOST:
        return []
    path = shutil.which("qemu-" + isa)
    # qemu's own memory is locked by threads that a child does not have
    os.environ["G_SLICE"] = "always-malloc"
    return [path] if path else None


def each_machine(tap):
    """The machines that programs can be made for and run on, one by one."""
    for isa in ISAS:
        if emulator(isa) is None or not tool(isa, "gcc"):
            tap.skip(isa, "no tools for it")
        else:
            yield isa


def print_sweep(sums, found):
    """What a sweep found, [(title, why)] at a time; its exit status."""
    bad = 0
    for some in found:
        for title, why in some:
            bad += 1
            print("differs: " + title)
            print("".join("#   %s\n" % line for line in why), end="",
                  flush=True)
    for what, n in sorted(sums.items()):
        print("# %s: %d" % (what, n))
    print("1..1\n%sok 1 - %d differ" % ("not " if bad else "", bad))
    return 1 if bad else 0


class World:
    """The libraries of a machine, rewritten in one way (None: originals)."""

    def __init__(self, isa, way=None):
        self.isa, self.way = isa, way
        self.original = "/usr/%s-linux-gnu" % isa
        self.root = None
        if way:
            self.root = os.path.abspath(os.path.join(
                os.path.dirname(TALLY), "rewrite", isa, way))
            self.make()

    def library(self, name):
        """Where the compiler's library of that name is, or None."""
        path = run(tool(self.isa, "gcc"), "-print-file-name=" + name).strip()
        return os.path.realpath(path) if "/" in path else None

    def make(self):
        os.makedirs(self.root + "/lib", exist_ok=True)
        stamp = self.root + "/stamp"
        with open(self.root + "/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(stamp) and open(stamp).read() == changed():
                return
            for name in LIBRARIES:
                path = self.library(name)
                if path:
                    rewrite(self.way, path, "%s/lib/%s" % (self.root, name))
            loader = os.path.join(self.root, LOADER[self.isa])
            if self.isa != HOST:
                os.makedirs(os.path.dirname(loader), exist_ok=True)
                # also where libraries are: to another world it is one
                for to in (os.path.dirname(loader), self.root + "/lib"):
                    shutil.copy2(self.library(os.path.basename(loader)), to)
            with open(stamp, "w") as f:
                f.write(changed())

    def run(self, exe, *args, cpu=None, libs=(), env=None, cwd=None,
            seconds=SECONDS):
        """(status, output) of a program in this world."""
        words = emulator(self.isa)
        more = {"PATH": "/usr/bin:/bin", "LANG": "C", **(env or {})}
        path = list(libs) + ([self.root + "/lib"] if self.root else [])
        if words:
            words = words + ["-L", self.root or self.original]
            words += ["-cpu", cpu] if cpu else []
            if path:
                words += ["-E", "LD_LIBRARY_PATH=" + ":".join(path)]
        elif path:
            more["LD_LIBRARY_PATH"] = ":".join(path)
        p = subprocess.Popen([*words, exe, *args], env=more, cwd=cwd,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, **ALONE)
        try:
            out, _ = p.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return "hangs", p.communicate()[0].decode(errors="replace")
        return p.returncode, out.decode(errors="replace")


# no core files, and a group that can be ended as one; a function to be called in
# the child would make each of them a copy of this process
resource.setrlimit(resource.RLIMIT_CORE,
                   (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
ALONE = {"process_group": 0}


class Names:
    """Functions of files by address; of those that are asked for."""

    def __init__(self, isa, **files):
        self.isa, self.files, self.table = isa, files, {}

    @staticmethod
    def read(isa, path):
        nm = run(tool(isa, "nm"), "-n", "--defined-only", "-S", path)
        out = []
        for line in nm.splitlines():
            w = line.split()
            if len(w) == 4 and w[2] in "tTwWi":
                out.append((int(w[0], 16), int(w[1], 16), w[3]))
        return out

    def at(self, obj, addr):
        best = None
        if obj in self.files and obj not in self.table:
            self.table[obj] = self.read(self.isa, self.files[obj])
        for start, size, name in self.table.get(obj, ()):
            if start <= addr < start + size:
                best = name
        return best and best.split(".")[0]

    def named(self, text):
        """The text with every place of a backtrace given its name."""
        def place(m):
            name = self.at(m.group(1), int(m.group(2), 16))
            return "at %s %s" % (m.group(1), name or "?")
        return re.sub(r"\bat ([-\w.+]+)\+(0x[0-9a-f]+)", place, text)


def differences(want, got):
    """Complaints about (status, output) that is not as wanted."""
    if want == got:
        return []
    out = ["status %s, want %s" % (got[0], want[0])]
    a, b = want[1].splitlines(), got[1].splitlines()
    for i in range(max(len(a), len(b))):
        x, y = (v[i] if i < len(v) else "<end>" for v in (a, b))
        if x != y:
            out += ["line %d" % (i + 1), "want " + x, "got  " + y]
            break
    return out + ["..."] + b[-4:]
