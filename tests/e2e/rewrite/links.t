#!/usr/bin/env python3
"""
rewrite/links: programs linked in every way: shared libraries and plugins,
linkers, layouts, relocations, stripped of symbols and of sections, with branch
protection, with functions of a megabyte; each does rewritten what it did.
"""
import concurrent.futures
import os
import struct
import sys
import tempfile
import threading

sys.path.insert(0, "tests/lib")
from rest import with_rest
from rewrite_run import *

tap = Tap()
ISA = None      # the machine whose turn it is
PAIR = ["trap", "crowded"]
# nothing is in the last two that is not in the others
TRIED = with_rest([*PAIR, "poison"], ["moved", "insert"])
CPU = {"aarch64": "max"}        # all that qemu knows


def cc(name, *words):
    c = compiler(ISA, name)
    if not c:
        raise Failed("no %s for %s" % (name, ISA))
    made(*c, "-w", *words)


def sources(*names):
    return [os.path.normpath(PROGS + n) for n in names]


def place(name, make=True):
    path = os.path.join(where, ISA, name)
    if make:
        os.makedirs(path, exist_ok=True)
    return path


def compare(exe, *args, ways=PAIR, libs=None, cpu=None, named=True, todo=None):
    """[(way, complaints)]; libs: {name: path} that are rewritten too"""
    libs = libs or {}
    here = os.path.dirname(exe)

    def outcome(way, folder):
        copy = os.path.join(folder, os.path.basename(exe))
        status, out = worlds[way].run(
            copy, *[a.replace("%", folder) for a in args], cwd=folder,
            cpu=cpu, libs=[folder] if libs else [])
        if named:
            out = Names(ISA, main=copy, **{
                n: os.path.join(folder, n) for n in libs}).named(out)
        else:
            out = re.sub(r"(?m)^( +at [-\w.+]+)\+0x.*", r"\1", out)
        return status, out.replace(folder, "%")

    want = outcome(None, here)
    fine = want[0] not in ("hangs", -signal.SIGILL, -signal.SIGSEGV)
    result = [("runs", [] if fine else [str(want)])]
    for way in ways:
        folder = place(os.path.basename(here) + "-" + way)
        for path in [exe, *libs.values()]:
            rewrite(way, path, os.path.join(folder, os.path.basename(path)))
        result.append((way, differences(want, outcome(way, folder))))
    return result


def plugin():
    d = place("plugin")
    cc("g++", "-O2", "-shared", "-fPIC", "-o", d + "/plugin.so",
       *sources("plugin.cc"))
    cc("g++", "-O2", "-o", d + "/host", *sources("host.cc"))
    return compare(d + "/host", "%/plugin.so", ways=TRIED,
                   libs={"plugin.so": d + "/plugin.so"})


def thread_local(dialect):
    d = place("tls-" + dialect)
    flags = ["-O2", "-mtls-dialect=" + dialect]
    cc("gcc", *flags, "-shared", "-fPIC", "-Wl,-soname,libtls.so", "-o",
       d + "/libtls.so", *sources("tls-lib.c"))
    cc("gcc", *flags, "-pthread", "-o", d + "/tls", *sources("tls.c"),
       d + "/libtls.so")
    return compare(d + "/tls", libs={"libtls.so": d + "/libtls.so"})


def local_exec():
    d = place("tls-static")
    cc("gcc", "-O2", "-static", "-pthread", "-o", d + "/tls",
       *sources("tls.c", "tls-lib.c"))
    return compare(d + "/tls")


objects = {}
compiling = threading.Lock()


def compiled(driver, source, flags):
    """an object file; each is made once, as most links differ in nothing"""
    key = (ISA, driver, source, *flags)
    with compiling:
        if key not in objects:
            out = os.path.join(where, "object%d.o" % len(objects))
            cc(driver, "-O2", *flags, "-c", "-o", out, *sources(source))
            objects[key] = out
        return objects[key]


def linked(name, driver, *flags, more=None, **how):
    """flow.c and throw.cc linked that way, each rewritten in one way"""
    result = []
    for stem, source, way in (("flow", "flow.c", "trap"),
                              ("throw", "throw.cc", "crowded")):
        d = place(name + "-" + stem)
        exe = d + "/" + stem
        plus = {"gcc": "g++", "clang": "clang++"}
        words = plus[driver] if stem == "throw" else driver
        code = [f for f in flags if f.startswith(("-f", "-m")) and
                not f.startswith("-fuse-ld")]
        cc(words, *flags, "-o", exe, compiled(words, source, code))
        if more:
            more(exe)
        result += [("%s %s" % (stem, what), bad)
                   for what, bad in compare(exe, ways=[way],
                                            cpu=CPU.get(ISA), **how)]
    return result


def strip(exe):
    run(tool(ISA, "strip"), exe)


def drop_sections(exe):
    """no section headers at all"""
    with open(exe, "r+b") as f:
        f.seek(40)
        f.write(struct.pack("<Q", 0))
        f.seek(58)
        f.write(struct.pack("<HHH", 64, 0, 0))


def far():
    d = place("far")
    cc("gcc", "-O2", "-o", d + "/far",
       *sources("far.c", "far-aarch64.S", "../big.S"))
    return compare(d + "/far")


def wide():
    """old text that no jump leads over"""
    d = place("wide")
    cc("gcc", "-O2", "-Wl,--section-start=.far_end=0x10000000", "-o",
       d + "/wide", *sources("wide.c"))
    return compare(d + "/wide", ways=TRIED)


def marked(exe):
    """does the file say that indirect branches find marked places only?"""
    return "BTI" in run(tool(ISA, "readelf"), "-n", exe)


def protected():
    """branch targets that the processor checks"""
    d = place("marked")
    exe = d + "/marked"
    cc("gcc", "-O2", "-mbranch-protection=standard", "-nostdlib", "-static",
       "-o", exe, *sources("marked.c"))
    result = [("is marked", [] if marked(exe) else ["no"])]
    result += compare(exe, cpu="max", ways=TRIED)
    return result + [(way + ": no longer marked",
                      ["it is"] if marked("%s-%s/marked" % (d, way)) else [])
                     for way in TRIED]


def rust():
    c = compiler(ISA, "rustc")
    if not c:
        return "no rustc for %s" % ISA
    d = place("rust")
    run(*c, "-C", "linker=" + tool(ISA, "gcc"), "-O", "-g", "-o",
        d + "/panics", *sources("panics.rs"))
    return compare(d + "/panics", ways=TRIED) + [
        (w + " and die", b) for w, b in compare(d + "/panics", "die")]


LLD = ["-fuse-ld=lld"]
OWN = {
    "aarch64": [
        ("thread-local by descriptor", thread_local, "desc"),
        ("thread-local by call", thread_local, "trad"),
        ("functions over 1 MB", far),
        ("branch targets marked", protected),
        ("return addresses signed", linked, "signed", "gcc",
         "-mbranch-protection=standard"),
        ("return addresses signed with the other key", linked, "other-key",
         "gcc", "-mbranch-protection=pac-ret+leaf+b-key"),
    ],
    "x86_64": [
        ("thread-local by descriptor", thread_local, "gnu2"),
        ("thread-local by call", thread_local, "gnu"),
        ("branch targets marked", linked, "marked", "gcc",
         "-fcf-protection=full", "-Wl,-z,ibtplt"),
        ("retpolines", linked, "retpolines", "gcc", "-mindirect-branch=thunk",
         "-mfunction-return=thunk", "-fcf-protection=none"),
        ("no linker stubs", linked, "no-plt", "gcc", "-fno-plt"),
        ("addresses of any size", linked, "large", "gcc", "-mcmodel=large",
         "-fno-pie", "-no-pie"),
        ("traps between functions", linked, "patch", "gcc",
         "-fpatchable-function-entry=7,4", "-falign-functions=32"),
        ("no room between functions", linked, "tight", "gcc",
         "-falign-functions=1", "-fno-pie", "-no-pie"),
    ],
}
JOBS = [
    ("plugin", plugin),
    ("thread-local, static", local_exec),
    ("old text over 128 MB", wide),
    ("Rust", rust),
    ("huge pages", linked, "huge", "gcc",
     "-Wl,-z,max-page-size=2097152", "-Wl,-z,separate-code"),
    ("-no-pie", linked, "no-pie", "gcc", "-fno-pie", "-no-pie"),
    ("-static-pie", linked, "static-pie", "gcc", "-fPIE", "-static-pie"),
    ("separate code", linked, "separate", "gcc", "-Wl,-z,separate-code",
     "-Wl,-z,now"),
    ("--emit-relocs", linked, "relocs", "gcc", "-Wl,--emit-relocs"),
    ("lld", linked, "lld", "clang", *LLD, "-fPIE", "-pie"),
    ("lld, without PIE", linked, "lld-plain", "clang", *LLD, "-fno-pie",
     "-no-pie"),
    ("lld, relative relocations packed", linked, "relr", "clang", *LLD,
     "-fPIE", "-static-pie", "-Wl,--pack-dyn-relocs=relr"),
]
CUT = [
    ("stripped", strip, ["-fPIE", "-pie"]),
    ("stripped, without PIE", strip, ["-fno-pie", "-no-pie"]),
    ("without section headers", drop_sections, ["-s"]),
    ("static without section headers", drop_sections, ["-s", "-static"]),
]


def cut(what, how, flags):
    return linked(what.replace(" ", "-").replace(",", ""), "gcc", *flags,
                  more=how, named=False)


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    only = sys.argv[1:]
    for ISA in ISAS:
        if emulator(ISA) is None or not tool(ISA, "gcc"):
            tap.skip(ISA, "no tools for it")
            continue
        os.makedirs(os.path.join(where, ISA))
        worlds = {way: World(ISA, way) for way in [None, *TRIED]}
        todo = JOBS + OWN[ISA] + [(c[0], cut, *c) for c in CUT]
        for job, future in [(j, pool.submit(*j[1:])) for j in todo
                            if not only or j[0] in only]:
            tap.job(ISA + " " + job[0], future)
tap.done()
