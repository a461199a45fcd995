#!/usr/bin/env python3
"""
rewrite/gdb: a debugger finds its way in rewritten programs: breakpoints by
name, backtraces with names through program, library and signal frames,
finish, stepping; as in the original.
"""
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
ISA = None      # the machine whose turn it is
# gdb 13 does not follow qemu's signal frames with SVE registers in them
CPU = {"aarch64": ["-cpu", "cortex-a72"], "x86_64": []}
SECONDS = PATIENCE


def gdb():
    return shutil.which("gdb" if HOST == ISA else "gdb-multiarch")


class Remote:
    """A program in the emulator, which waits for a debugger."""

    def __init__(self, world, exe, libs):
        self.root = world.root or world.original
        self.libs = libs
        self.socket = os.path.join(os.path.dirname(exe), "socket")
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        # a socket in a folder of our own, not a port: nobody else comes in
        self.process = subprocess.Popen(
            [*emulator(ISA), *CPU[ISA], "-g", self.socket, "-L", self.root,
             "-E", "LD_LIBRARY_PATH=" + libs, exe], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def commands(self):
        return ["set sysroot " + self.root,
                "set solib-search-path " + self.libs,
                "python import os, time\n"
                "while not os.path.exists('%s'): time.sleep(0.05)" %
                self.socket, "target remote " + self.socket]

    def end(self):
        self.process.kill()
        self.process.wait()


def debug(exe, *commands):
    words = [gdb(), "-nx", "-batch", "-q", "-iex", "set auto-load off",
             "-iex", "set debuginfod enabled off", "-ex", "set width 0",
             "-ex", "set confirm off", "-ex", "set pagination off"]
    for c in commands:
        words += ["-ex", c]
    try:
        p = subprocess.run(words + [exe], stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           errors="replace", timeout=SECONDS)
        return p.stdout
    except subprocess.TimeoutExpired as e:
        return "hangs: %s" % e.stdout


def describe(world, exe):
    """
    What makes gdb see Linux in the emulator. Of x86-64, qemu 7.2 does not
    mention the one register that says so, and gdb then knows no libraries.
    """
    if ISA == HOST or ISA != "x86_64":
        return []
    remote = Remote(world, exe, os.path.dirname(exe))
    text = debug(exe, *remote.commands(), "maint print xml-tdesc", "kill")
    remote.end()
    name = os.path.join(where, "registers.xml")
    with open(name, "w") as f:
        f.write(text[text.index("<?xml"):text.index("</target>")] +
                '<feature name="org.gnu.gdb.i386.linux"><reg name="orig_rax" '
                'bitsize="64" type="int"/></feature></target>')
    return ["set tdesc filename " + name]


def session(world, exe, libs, *commands):
    """What gdb prints while the program runs."""
    remote = None
    if world.isa == HOST:
        path = [libs] + ([world.root + "/lib"] if world.root else [])
        start = ["set env LD_LIBRARY_PATH " + ":".join(path),
                 "set startup-with-shell off", "starti"]
    else:
        remote = Remote(world, exe, libs)
        start = described + remote.commands()
    try:
        return debug(exe, *start, "handle SIGUSR1 nostop noprint pass",
                     *commands, "kill")
    finally:
        if remote:
            remote.end()


def frames(text):
    """Names of the frames of every backtrace, frame 0 of each in front."""
    return [m.group(1).strip() for m in re.finditer(
        r"(?m)^#\d+ +(?:0x[0-9a-f]+ in )?([^(\n]+|<[^>]*>)", text)]


def stops(text):
    """Names of the functions where the program stopped."""
    return [n for n in re.findall(r"(?m)^(?:Breakpoint \d+, )?0x[0-9a-f]+ in "
                                  r"([\w.]+) \(\)", text) if n != "_start"]


BACKTRACE = ("break debug_inner", "continue", "bt")
LIBRARY = ("set breakpoint pending on", "break library_step", "continue",
           "bt", "finish", "delete", "break debug_inner", "continue", "bt")
SIGNAL = ("break debug_handler", "continue", "bt", "delete",
          "break debug_inner", "continue", "bt", "finish", "finish")
STEPS = ("break debug_middle", "continue", *["stepi"] * 4, "delete",
         "break debug_inner", "continue", "stepi", "stepi", "finish",
         "nexti", "nexti", "step")


def build(where, stripped):
    """The program and its library in a folder of their own."""
    os.makedirs(where)
    gcc = compiler(ISA, "gcc")
    lib, exe = where + "/libdebug.so", where + "/debug"
    run(*gcc, "-O1", "-shared", "-fPIC", "-Wl,-soname,libdebug.so", "-o", lib,
        PROGS + "debug-lib.c")
    run(*gcc, "-O1", "-rdynamic", "-o", exe, PROGS + "debug.c", lib)
    if stripped:
        run(tool(ISA, "strip"), exe)
        run(tool(ISA, "strip"), lib)
    return exe


def same(name, want, got, text, least):
    tap.ok(want == got and len(got) >= least, name,
           ["want %s" % want, "got  %s" % got, *text.splitlines()[-8:]])


def attempt(original, stripped, way):
    """Compares sessions with the original and with what was made of it."""
    what = "%s %s%s" % (ISA, way, ", stripped" if stripped else "")
    folder = os.path.dirname(original) + "-" + way
    os.makedirs(folder)
    for name in ("debug", "libdebug.so"):
        rewrite(way, os.path.join(os.path.dirname(original), name),
                os.path.join(folder, name))
    exe = os.path.join(folder, "debug")
    for title, commands, least in (("the program", BACKTRACE, 4),
                                   ("the library", LIBRARY, 4),
                                   ("a signal handler", SIGNAL, 6)):
        want = session(worlds[None], original, os.path.dirname(original),
                       *commands)
        got = session(worlds[way], exe, folder, *commands)
        same("%s: backtraces from %s" % (what, title),
             known(frames(want)), known(frames(got)), got, least)
    want, got = (stops(session(w, e, os.path.dirname(e), *STEPS))
                 for w, e in ((worlds[None], original), (worlds[way], exe)))
    tap.ok(steps_alike(want, got, way), what + ": steps",
           ["want %s" % want, "got  %s" % got])


def steps_alike(want, got, way):
    """The same steps; with code inserted they get less far."""
    if way != "insert":
        return want == got and len(got) >= 12
    want, way = ([n for n, _ in itertools.groupby(v)] for v in (want, got))
    return len(way) >= 4 and way == want[:len(way)] and len(got) >= 12


def known(names):
    """Frames of stripped libraries have names only when rewritten."""
    return [n for n in names if re.match("debug_|library_|main|<", n)]


with tempfile.TemporaryDirectory() as where:
    for ISA in ISAS:
        if not gdb() or emulator(ISA) is None or not tool(ISA, "gcc"):
            tap.skip(ISA, "no debugger or no tools for it")
            continue
        worlds = {way: World(ISA, way) for way in (None, "moved", "insert")}
        for stripped in (False, True):
            exe = build(os.path.join(where, ISA, str(stripped)), stripped)
            described = describe(worlds[None], exe)
            for way in ("moved", "insert"):
                if stripped and way == "insert":
                    continue
                attempt(exe, stripped, way)
tap.done()
