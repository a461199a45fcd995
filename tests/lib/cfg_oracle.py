"""
cfg_oracle: what a control-flow graph must be, by tools that nobody here wrote.

A program is compiled to assembly text, assembled with its local labels kept,
and linked; the twin without symbols goes to `tally cfg --json`. Then

    nm         says where functions begin and end, and where labels are
    objdump    says where instructions begin and what branches do
    the .s     says what every jump table holds and where exceptions land

and each check returns a list of complaints, empty if all is well.
"""
import bisect
import functools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from kept import kept

TALLY = os.path.join(os.environ.get("BUILD", "build"), "tally")
# the machine itself, and the one that tally runs on (tests/lib/there.sh)
MACHINE = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
HOST = os.environ.get("TALLY_TEST_HOST", MACHINE)
# an emulated tally runs foreign programs only, and they cannot execute it
EMULATED = HOST != MACHINE
ISAS = ("x86_64", "aarch64")
COMMENT = {"x86_64": "#", "aarch64": "//"}
NAMES = {"x86_64": "x86-64", "aarch64": "aarch64"}


class Tap:
    """Test Anything Protocol."""

    def __init__(self):
        self.n = self.failed = 0

    def ok(self, good, name, why=()):
        self.n += 1
        self.failed += not good and "# TODO" not in name
        print("%sok %d - %s" % ("" if good else "not ", self.n, name))
        if not good:
            for line in list(why)[:12]:
                print("#   %s" % (line,))
        sys.stdout.flush()

    def none(self, complaints, name):
        self.ok(not complaints, name, complaints)

    def skip(self, name, why):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, why))

    def job(self, title, future):
        """A job's [(what, complaints)], or the reason why it was not done."""
        try:
            result = future.result()
        except Failed as e:
            self.ok(False, title + ": builds", str(e).splitlines())
            return
        if isinstance(result, str):
            self.skip(title, result)
            return
        for what, complaints in result:
            self.none(complaints, "%s: %s" % (title, what))

    def done(self):
        print("1..%d" % self.n)
        sys.exit(1 if self.failed else 0)


def tool(isa, name):
    """A tool of the machine's GNU tools, or None."""
    found = shutil.which("%s-linux-gnu-%s" % (isa, name))
    return shutil.which(name) if isa == MACHINE else found


def compiler(isa, name):
    """The words that call a compiler for the machine, or None."""
    if name in ("clang", "clang++"):
        path = shutil.which(name)
        if not path or not tool(isa, "as"):
            return None
        return [path] if isa == MACHINE else \
            [path, "--target=%s-linux-gnu" % isa, *mended_libm(isa)]
    if isa != MACHINE and name in ("rustc", "musl-gcc"):
        return foreign_rust(isa) if name == "rustc" else foreign_musl(isa)
    path = tool(isa, name)
    return [path, *mended_libm(isa)] if path else None


@functools.lru_cache(None)
def mended_libm(isa):
    """
    Flags for who links a foreign program statically: libm.a of Debian's cross
    compilers for x86-64 names files where only the machine's own would be.
    """
    script = "/usr/%s-linux-gnu/lib/libm.a" % isa
    if isa == MACHINE or not os.path.exists(script):
        return []
    with open(script, "rb") as f:
        text = f.read(4096)
    if not text.startswith(b"/*"):
        return []
    here = os.path.abspath(os.path.join(os.path.dirname(TALLY), "libm", isa))
    os.makedirs(here, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=here, delete=False) as f:
        f.write(text.replace(b"/usr/lib/%s-linux-gnu/" % isa.encode(),
                             os.path.dirname(script).encode() + b"/"))
    os.rename(f.name, here + "/libm.a")
    return ["-L" + here]


def packages(isa, *names):
    """Where these Debian packages of the machine are unpacked, or None."""
    arch = {"x86_64": "amd64", "aarch64": "arm64"}[isa]
    p = subprocess.run(["sh", "-c", ". tests/lib/packages.sh && "
                        "packages_fetch \"$@\" >&2 && packages_root \"$1\"",
                        "sh", arch, *names], stdout=subprocess.PIPE, text=True)
    return p.stdout.strip() if p.returncode == 0 else None


@functools.lru_cache(None)
def foreign_rust(isa):
    """A rustc and where its library for the machine is, or None.

    rustc takes only a library of its very own version: Debian's of Debian's
    package, another one of what was installed with it.
    """
    root = packages(isa, "libstd-rust-dev")
    where = [[], ["--sysroot", root + "/usr"]] if root else [[]]
    found = [shutil.which("rustc", path=d) for d in os.get_exec_path()]
    for words in [[f, "--target", "%s-unknown-linux-gnu" % isa] + w
                  for f in found if f for w in where]:
        if rust_works(words):
            return words
    return None


def rust_works(words):
    with tempfile.TemporaryDirectory() as out:
        p = subprocess.run(words + ["--crate-type", "lib", "--emit", "asm",
                                    "--out-dir", out, "-"], text=True,
                           input="#![no_std]", stderr=subprocess.DEVNULL)
    return p.returncode == 0


@functools.lru_cache(None)
def foreign_musl(isa):
    """gcc with the C library of the machine's package of musl, or None."""
    root, gcc = packages(isa, "musl-dev", "musl"), tool(isa, "gcc")
    if not root or not gcc:
        return None
    text = open("%s/usr/lib/%s-linux-musl/musl-gcc.specs" % (root, isa)).read()
    specs = os.path.join(os.path.dirname(TALLY), "musl-%s.specs" % isa)
    with open(specs, "w") as f:
        f.write(re.sub(r"/usr/(?=lib/|include/)", root + r"\g<0>", text))
    return [gcc, "-specs=" + specs]


class Failed(Exception):
    pass


def run(*words, **more):
    """Output of a command that must succeed."""
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, errors="replace", **more)
    if p.returncode:
        raise Failed("%s: %s" % (" ".join(words), p.stderr.strip()))
    return p.stdout


def made(*words):
    """What run() does, of a compiler: it is not asked the same twice."""
    kept(words, lambda: run(*words))


def tally_cfg(path, *words):
    return json.loads(run(TALLY, "cfg", "--json", path, *words))


def compile_text(isa, name, source, out, flags):
    """Assembly text of one source; labels get a prefix of their own."""
    if source.endswith(".S"):
        text = run(tool(isa, "gcc"), "-E", "-P",
                   *[f for f in flags if f.startswith("-D")], source)
    elif name == "rustc":
        run(*compiler(isa, name), "-O", "--emit", "asm", "-C", "debuginfo=0",
            "-o", out, source)
        text = open(out).read().replace("use_", "use")
    else:
        cc = compiler(isa, {"gcc": "g++", "clang": "clang++"}[name]
                      if source.endswith(".cc") else
                      "gfortran" if source.endswith(".f90") else name)
        more = ["-fno-addrsig"] if name == "clang" else \
            ["--param=case-values-threshold=4"]
        made(*cc, *flags, *more, "-w", "-S", "-o", out, source)
        text = open(out).read()
    prefix = re.sub(r"\W", "_", os.path.basename(source)).rsplit("_", 1)[0]
    text = re.sub(r"(?<!\w)\.L(?=[\w.$])", ".L%s_" % prefix, text)
    with open(out, "w") as f:
        f.write(text)
    return text


FUNCTION = re.compile(r"^\s*\.type\s+([\w.$]+)\s*,\s*"
                      r"[@%](?:gnu_indirect_)?function", re.M)
REMARK = re.compile(r"\s*(?:#|//).*")
PREFIX = re.compile(r"(notrack|bnd|repn?z?|lock|data16|addr32|cs|ds|"
                    r"rex(\.\w+)?)$")


class Program:
    """A linked program, its twin without symbols, and the truth about it."""

    def __init__(self, isa, name, sources, flags, link, stem):
        self.isa, self.path, self.bare = isa, stem, stem + ".bare"
        self.texts, objects = [], []    # lines without comments
        self.defined = set()            # functions of the sources
        for i, s in enumerate(sources):
            text = "%s.%d.s" % (stem, i)
            said = compile_text(isa, name, s, text, flags)
            self.defined.update(FUNCTION.findall(said))
            self.texts.append([REMARK.sub("", line) if "#" in line or
                               "//" in line else line
                               for line in said.splitlines()])
            run(tool(isa, "as"), "-L", "-o", text[:-1] + "o", text)
            objects.append(text[:-1] + "o")
        run(*compiler(isa, link[0]), *link[1:], "-Wl,--discard-none",
            "-o", stem, *objects)
        run(tool(isa, "strip"), "-o", self.bare, stem)
        self.read_symbols()
        self.ours = [(a, n, names) for (a, n), names in
                     sorted(self.functions.items())
                     if n and self.defined & set(names)]
        self.read_code("-static" in link or "-static-pie" in link)

    def read_symbols(self):
        self.label, self.functions, self.objects = {}, {}, []
        self.ifuncs = set()
        for line in run(tool(self.isa, "readelf"), "-sW",
                        self.path).splitlines():
            w = line.split()
            if len(w) < 8 or not w[0][:-1].isdigit() or w[6] == "UND":
                continue
            addr, size = int(w[1], 16), int(w[2], 0)
            self.label[w[7]] = addr
            if w[3] in ("FUNC", "IFUNC") and w[6] != "ABS":
                self.functions.setdefault((addr, size), []).append(w[7])
                if w[3] == "IFUNC":
                    self.ifuncs.add(w[7])
            elif w[3] == "OBJECT" and size:
                self.objects.append((addr, addr + size))

    def read_code(self, only_ours):
        """Every instruction by objdump: address -> (size, word, operands)."""
        self.insn, self.stub, self.data = {}, {}, set()
        self.branches = {}
        mine = ours(self)
        span = ["--start-address=%#x" % mine[0][0],
                "--stop-address=%#x" % (mine[-1][0] + mine[-1][1])] \
            if only_ours else []
        for line in run(tool(self.isa, "objdump"), "-dwz", *span,
                        self.path).splitlines():
            m = INSTRUCTION.match(line)
            if not m:
                head = HEAD.match(line)
                if head and head.group(2).endswith("@plt"):
                    self.stub[int(head.group(1), 16)] = \
                        head.group(2)[:-4].split("@")[0]
                continue
            addr = int(m.group(1), 16)
            size = len(m.group(2).replace(" ", "")) // 2
            words = m.group(3).split(COMMENT[self.isa])[0].split()
            while words and PREFIX.match(words[0]):
                words.pop(0)
            if words and words[0].startswith("."):
                self.data.update(range(addr, addr + size))
                continue
            self.insn[addr] = (size, words[0] if words else "(bad)",
                               words[1:])
        for lo, hi in self.objects:
            for a in [a for a in range(lo, hi) if a in self.insn]:
                del self.insn[a]
            self.data.update(range(lo, hi) if hi - lo < 4096 else ())

    def branch(self, addr):
        """What the instruction does: (kind, target or None)."""
        got = self.branches.get(addr)
        if not got:
            size, word, operands = self.insn[addr]
            kind, direct = kind_of(self.isa, word, bool(operands) and
                                   operands[0].startswith("*"))
            got = kind, target_of(operands) if direct else None
            self.branches[addr] = got
        return got


INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2,8} )+)\s*(.*)")
HEAD = re.compile(r"([0-9a-f]+) <(.*)>:$")
ADDRESS = re.compile(r"(?:0x)?([0-9a-f]+),?$")


@functools.lru_cache(maxsize=None)
def kind_of(isa, word, by_pointer):
    """(kind of an instruction, whether it has a target)."""
    if isa == "aarch64":
        if word in ("b", "bl"):
            return ("jump" if word == "b" else "call"), True
        if re.match(r"b\.|cbn?z$|tbn?z$", word):
            return "cond", True
        table = {"br": "ijump", "blr": "call", "ret": "return",
                 "svc": "syscall", "brk": "trap", "udf": "trap",
                 "hlt": "trap"}
        return table.get(word, "seq"), False
    if word in ("jmp", "jmpq", "call", "callq"):
        kind = "jump" if word.startswith("jmp") else "call"
        if by_pointer:
            return ("ijump" if kind == "jump" else "call"), False
        return kind, True
    if re.match(r"j\w+$|loop", word):
        return "cond", True
    table = {"ret": "return", "retq": "return", "syscall": "syscall",
             "ud2": "trap", "hlt": "trap", "int3": "trap"}
    return table.get(word, "seq"), False


def target_of(operands):
    """The last of them that is an address."""
    for w in reversed(operands):
        m = ADDRESS.match(w)
        if m:
            return int(m.group(1), 16)
    return None


class Graph:
    """The output of `tally cfg --json`, indexed."""

    def __init__(self, path):
        self.json = tally_cfg(path)
        self.procs = self.json["procedures"]
        self.block = {}       # start -> (end, procedure index, block)
        self.out = {}         # start -> [(kind, to or None)]
        self.entry = {int(p["entry"], 16): i
                      for i, p in enumerate(self.procs)}
        for i, p in enumerate(self.procs):
            for b in p["blocks"]:
                self.block[int(b["start"], 16)] = (int(b["end"], 16), i, b)
            for e in p["edges"] + p["exits"]:
                self.out.setdefault(int(e["from"], 16), []).append(
                    (e["kind"], int(e["to"], 16) if "to" in e else None))
        self.starts = sorted(self.block)
        self.dispatch = {int(d["at"], 16): d for d in self.json["dispatches"]}

    def at(self, addr):
        """Start of the block that holds addr, or None."""
        i = bisect.bisect_right(self.starts, addr) - 1
        if i < 0 or addr >= self.block[self.starts[i]][0]:
            return None
        return self.starts[i]

    def owner(self, addr):
        s = self.at(addr)
        return None if s is None else self.block[s][1]


INNER = {"fall", "taken", "jump", "after-call", "unwind", "table", "hub"}
OUTER = {"return", "tail-call", "no-return", "away", "unknown"}


def check_shape(g):
    """Blocks are in order and disjoint; edges go to blocks of their own."""
    bad, last = [], 0
    for s in g.starts:
        end, p, b = g.block[s]
        if s < last or end <= s:
            bad.append("block %#x..%#x overlaps" % (s, end))
        last = end
        if not g.out.get(s) and not b.get("padding"):
            bad.append("block %#x leads nowhere" % s)
    for i, p in enumerate(g.procs):
        starts = [int(b["start"], 16) for b in p["blocks"]]
        if starts != sorted(set(starts)):
            bad.append("%s: blocks out of order" % p["name"])
        inside = set(starts)
        if int(p["entry"], 16) not in starts:
            bad.append("%s: entry is no block" % p["name"])
        for e in p["edges"]:
            f, t = int(e["from"], 16), int(e["to"], 16)
            if e["kind"] not in INNER or f not in g.block or \
                    t not in g.block or g.block[f][1] != i or \
                    g.block[t][1] != i:
                bad.append("%s: edge %s" % (p["name"], e))
        for e in p["exits"]:
            if e["kind"] not in OUTER or int(e["from"], 16) not in inside:
                bad.append("%s: exit %s" % (p["name"], e))
    total = sum(g.block[s][0] - s for s in g.starts)
    if total != g.json["covered_bytes"]:
        bad.append("covered_bytes is %d, blocks have %d" %
                   (g.json["covered_bytes"], total))
    counts = {k: 0 for k in ("bounded", "approximated", "unknown")}
    for d in g.json["dispatches"]:
        if d["status"] in counts:
            counts[d["status"]] += 1
    if counts != g.json["jump_tables"]:
        bad.append("jump_tables %s, dispatches %s" %
                   (g.json["jump_tables"], counts))
    return bad


def ours(p):
    """The functions of the sources: (addr, size, names)."""
    return p.ours


def blocks_of_ours(p, g, loose):
    """(start of block, function's address, size, names) of the sources."""
    for addr, size, names in ours(p):
        if set(names) & set(loose):
            continue
        for s in g.starts[bisect.bisect_left(g.starts, addr):]:
            if s >= addr + size:
                break
            yield s, addr, size, names


def is_part(name):
    return re.search(r"\.(cold|part|unlikely)\b", name)


def check_functions(p, g, loose=()):
    """Every function is an entry, and all of its instructions in blocks."""
    bad = []
    for addr, size, names in ours(p):
        if set(names) & set(loose):
            continue
        cold = all(is_part(n) and ".cold" in n for n in names)
        s = g.at(addr)
        if cold:
            parent = p.label.get(names[0].split(".cold")[0])
            if parent and g.owner(addr) != g.owner(parent):
                bad.append("%s is not in its parent" % names[0])
        elif addr not in g.entry and not (
                s == addr and g.block[s][2].get("entry")):
            bad.append("%s at %#x is no entry" % (names[0], addr))
        for a in range(addr, addr + size):
            if a in p.insn and p.insn[a][1] not in ("nop", "nopw", "nopl",
                                                   "xchg", "udf") and \
                    g.at(a) is None:
                bad.append("%s: %#x is in no block" % (names[0], a))
                break
    return bad


def check_boundaries(p, g, loose=()):
    """Blocks begin and end where instructions do, and hold no data."""
    bad = []
    for s, addr, size, names in blocks_of_ours(p, g, loose):
        end = g.block[s][0]
        if s not in p.insn:
            bad.append("%s: block at %#x" % (names[0], s))
        elif end not in p.insn and end < addr + size and \
                end not in p.data:
            bad.append("%s: block ends at %#x" % (names[0], end))
        elif any(a in p.data for a in range(s, end)):
            bad.append("%s: data in block %#x" % (names[0], s))
    return bad


def expected_direct(p, g, s, last, kind, target):
    """Edges that must leave block s, by objdump; None: not told."""
    end = g.block[s][0]
    if kind == "seq":
        return {("fall", end)}
    if kind == "return":
        return {("return", None)}
    if kind == "trap":
        return {("no-return", None)}
    if kind == "syscall":
        return {("after-call", end)}
    if kind in ("jump", "cond"):
        inside = g.owner(target) == g.owner(s)
        first = ("taken" if kind == "cond" else "jump", target) if inside \
            else ("tail-call", target)
        return {first} if kind == "jump" else {first, ("fall", end)}
    return None


def check_edges(p, g, loose=()):
    """Direct branches, falls and returns are as objdump says."""
    bad = []
    heads = {a for a, n, names in ours(p)
             if not any(is_part(x) for x in names)}
    for s, addr, size, names in blocks_of_ours(p, g, loose):
        end, _, b = g.block[s]
        if b.get("padding"):
            continue
        at, last = s, s
        while at < end and at in p.insn:
            if p.branch(at)[0] != "seq" and at + p.insn[at][0] != end:
                bad.append("%s: branch at %#x inside a block" %
                           (names[0], at))
            last = at
            at += p.insn[at][0]
        if last not in p.insn:
            continue
        kind, target = p.branch(last)
        got = {e for e in g.out.get(s, ()) if e[0] != "unwind"}
        want = expected_direct(p, g, s, last, kind, target)
        if want is not None and got != want:
            bad.append("%s: block %#x has %s, not %s" %
                       (names[0], s, sorted(got, key=str),
                        sorted(want, key=str)))
        # a jump to the head of another function is a tail call
        if kind == "jump" and target in heads and \
                not addr <= target < addr + size and \
                got != {("tail-call", target)}:
            bad.append("%s: %#x is no tail call" % (names[0], last))
        if kind == "call" and not got <= {("after-call", end),
                                          ("no-return", None)}:
            bad.append("%s: call at %#x has %s" % (names[0], last, got))
        if kind == "ijump" and last not in g.dispatch:
            bad.append("%s: jump at %#x not listed" % (names[0], last))
    return bad


# --- jump tables

ENTRY = re.compile(r"\s+\.(long|4byte|word|quad|8byte|xword|byte|hword|"
                   r"2byte|short)\s+(.*)")
SECTION = re.compile(r"\s+\.(?:section\s+([^,\s]+)|(text|data|bss))")
BEFORE = re.compile(r"\s+\.(previous|popsection)")
LABEL = re.compile(r"([\w.$]+):\s*(.*)")
NO_TABLE = re.compile(r"\.(gcc_except|debug|eh_frame)")
ALIGN = re.compile(r"\s+\.(p2)?(balign|align)")
LOCAL = re.compile(r"\(*\s*(\.L[\w.$]+)")
BYTES = {"long": 4, "4byte": 4, "word": 4, "quad": 8, "8byte": 8, "xword": 8,
         "byte": 1, "hword": 2, "2byte": 2, "short": 2}


def source_tables(p):
    """Tables in the text: address -> (targets, end of the table)."""
    tables, size = {}, 0
    for text in p.texts:
        label, section, now = None, ".text", []

        def flush():
            if label is not None and len(now) > 1 and \
                    label in p.label:
                at = p.label[label]
                tables[at] = list(now), at + len(now) * size

        for line in text:
            m = SECTION.match(line)
            if m:
                flush()
                label, now = None, []
                section = m.group(1) or "." + m.group(2)
                continue
            if BEFORE.match(line):
                section = "?"
            m = LABEL.match(line)
            if m:
                flush()
                label, now = m.group(1), []
                line = "\t" + m.group(2)
            m = ENTRY.match(line)
            if not m or NO_TABLE.match(section):
                if m is None and line.strip() and not ALIGN.match(line):
                    flush()
                    label, now = None, []
                continue
            size = BYTES[m.group(1)]
            for word in m.group(2).split(","):
                first = LOCAL.match(word.strip())
                if not first or first.group(1) not in p.label:
                    flush()
                    label, now = None, []
                    break
                now.append(p.label[first.group(1)])
        flush()
    code = {a for a in p.insn}
    return {t: to for t, to in tables.items()
            if all(x in code for x in to[0])}


def check_tables(p, g, unsolved=()):
    """Every table of the compiler is found, with the same targets."""
    bad, found = [], {"bounded": 0, "approximated": 0}
    tables = source_tables(p)
    starts = sorted(tables)
    seen = set()
    # LLVM fills holes with the function's end
    ends = {addr + size for addr, size, _ in ours(p)}
    halves = {at for addr, size, names in ours(p) if "halves" in names
              for at in range(addr, addr + size)}
    for at, d in g.dispatch.items():
        if "table" not in d:
            continue
        t = int(d["table"], 16)
        i = bisect.bisect_right(starts, t) - 1
        got = {int(x, 16) for x in d["targets"]}
        if i < 0 or t >= tables[starts[i]][1]:
            continue
        entries = len(tables[starts[i]][0])
        want = set(tables[starts[i]][0])
        seen.add(starts[i])
        if at in halves and t > starts[i]:    # the second half, no more
            entries //= 2
            want = set(tables[starts[i]][0][entries:])
        if d["status"] == "bounded" and got not in (want, want - ends):
            bad.append("jump at %#x: bounded, %d targets of %d" %
                       (at, len(got), len(want)))
        elif d["status"] == "bounded" and d["entries"] != entries:
            bad.append("jump at %#x: %d entries of %d" %
                       (at, d["entries"], entries))
        elif not got >= want - ends:
            bad.append("jump at %#x: %s, lacks %d targets" %
                       (at, d["status"], len(want - ends - got)))
        if d["status"] in found:
            found[d["status"]] += 1
    lost = [t for t in starts if t not in seen]
    names = [next((x for x, a in p.label.items() if a == t), "?")
             for t in lost]
    if len(lost) > len(unsolved):
        bad.append("tables that no jump is known to use: %s" %
                   " ".join(names))
    for addr, size, names in ours(p):
        for at in range(addr, addr + size):
            d = g.dispatch.get(at)
            if d and d["status"] == "unknown" and not set(names) & \
                    set(unsolved):
                bad.append("%s: jump at %#x: %s" % (names[0], at,
                                                    d.get("reason")))
    return bad, len(tables), found


# --- exceptions

SITES_BEGIN = re.compile(r"\.L\w*?_(LSDACSB|cst_begin)\w*:")
SITES_END = re.compile(r"\.L\w*?_(LSDACSE|cst_end)\w*:")
SITE_FIELD = re.compile(r"\s+\.(?:uleb128|byte)\s+(\S+)")


def source_sites(p):
    """Call sites of the exception tables: (start, end, pad)."""
    sites = []
    for text in p.texts:
        fields, inside = [], False
        for line in text:
            if SITES_BEGIN.match(line):
                inside, fields = True, []
            elif SITES_END.match(line):
                inside = False
            m = inside and SITE_FIELD.match(line)
            if not m:
                continue
            fields.append(m.group(1))
            if len(fields) < 4:
                continue
            a, b, pad, _ = fields
            fields = []
            if not pad.startswith(".L"):
                continue
            end, begin = b.split("-")
            start = p.label[a.split("-")[0]]
            sites.append((start, start + p.label[end] - p.label[begin],
                          p.label[pad.split("-")[0]]))
    return sorted(sites)


def check_pads(p, g):
    """Calls in a site have an unwind edge to its pad, others have none."""
    bad, sites = [], source_sites(p)
    for addr, size, names in ours(p):
        for s in g.starts[bisect.bisect_left(g.starts, addr):]:
            if s >= addr + size:
                break
            end = g.block[s][0]
            calls = [a for a in range(s, end) if a in p.insn and
                     p.branch(a)[0] == "call"]
            want = {pad for a in calls for lo, hi, pad in sites
                    if lo <= a < hi}
            got = {t for k, t in g.out.get(s, ()) if k == "unwind"}
            if got != want:
                bad.append("%s: block %#x: pads %s, not %s" %
                           (names[0], s, [hex(x) for x in got],
                            [hex(x) for x in want]))
    for _, _, pad in sites:
        if pad not in g.block or not g.block[pad][2].get("landing_pad"):
            bad.append("pad %#x is not marked" % pad)
    return bad, len(sites)


# --- names, imports, what never returns

NEVER = {"abort", "exit", "_exit", "__cxa_throw", "__cxa_rethrow",
         "_Unwind_Resume", "__stack_chk_fail", "longjmp", "__longjmp_chk",
         "_ZSt9terminatev", "_ZSt20__throw_length_errorPKc",
         "_ZSt24__throw_out_of_range_fmtPKcz",
         "__cxa_throw_bad_array_new_length"}


def check_noreturn(p, g):
    bad = []
    for addr, size, names in ours(p):
        if addr not in g.entry or any(is_part(n) for n in names):
            continue
        returns = g.procs[g.entry[addr]]["returns"]
        if names[0].startswith("noret_") and returns:
            bad.append("%s returns" % names[0])
        if names[0].startswith("mayret_") and not returns:
            bad.append("%s does not return" % names[0])
    for at in p.insn:
        kind, target = p.branch(at)
        if kind != "call" or p.stub.get(target) not in NEVER:
            continue
        s = g.at(at)
        if s is not None and ("no-return", None) not in g.out[s]:
            bad.append("call of %s at %#x comes back" %
                       (p.stub[target], at))
    return bad


def check_imports(p, g):
    """Stubs have the names that objdump gives them."""
    bad = []
    called = {p.branch(a)[1] for a in p.insn
              if p.branch(a)[0] in ("call", "jump")}
    for addr, name in p.stub.items():
        i = g.entry.get(addr)
        if i is None:
            if addr in called:
                bad.append("%s@plt at %#x is no procedure" % (name, addr))
        elif g.procs[i].get("import") != name and not (
                name.startswith("*") or name in p.ifuncs):
            bad.append("%s@plt is %s" % (name, g.procs[i].get("import")))
    return bad


def check_stubs(p, g):
    """All jumps of linkage sections leave, the lazy binder's too; and what
    lies behind them, where slots point before they are bound, is entered."""
    where = []
    for line in run("readelf", "-SW", p.bare).splitlines():
        m = re.search(r"\] \.i?plt\S* +PROGBITS +(\w+) \w+ (\w+)", line)
        if m:
            start = int(m[1], 16)
            where.append(range(start, start + int(m[2], 16)))
    bad = ["jump at %#x is %s" % (at, d["status"])
           for at, d in g.dispatch.items()
           if d["status"] != "tail-call" and any(at in r for r in where)]
    for at in g.dispatch:
        behind = at + p.insn.get(at, (0,))[0]
        if p.insn.get(behind, (0, ""))[1].startswith("push") and \
                "import" in g.procs[g.entry.get(at, 0)] and not (
                    behind in g.block and g.block[behind][2].get("entry")):
            bad.append("%#x is not entered" % behind)
    return bad


def check_names(p, g):
    """With symbols, procedures are called by theirs (g: not stripped)."""
    bad = []
    for addr, size, names in ours(p):
        i = g.entry.get(addr)
        if i is not None and g.procs[i]["name"] not in names:
            bad.append("%s is called %s" % (names[0], g.procs[i]["name"]))
    return bad


def check_tails(p, g):
    """Indirect jumps of functions tail_* leave, those of others do not."""
    bad, n = [], 0
    for addr, size, names in ours(p):
        for at in range(addr, addr + size):
            if at not in g.dispatch:
                continue
            status = g.dispatch[at]["status"]
            n += status == "tail-call"
            if names[0].startswith("tail_") and status != "tail-call" or \
                    names[0].startswith("direct") and status == "tail-call":
                bad.append("%s: jump at %#x is %s" %
                           (names[0], at, status))
    return bad, n


def check_program(p, g, loose=(), unsolved=()):
    """Every check of what code does: [(what, complaints)]."""
    tables, ntable, found = check_tables(p, g, unsolved)
    pads, nsite = check_pads(p, g)
    tails, ntail = check_tails(p, g)
    return [
        ("shape", check_shape(g)),
        ("functions", check_functions(p, g, loose)),
        ("boundaries", check_boundaries(p, g, loose)),
        ("edges", check_edges(p, g, loose)),
        ("%d tables (%d jumps bounded, %d approximated)" %
         (ntable, found["bounded"], found["approximated"]), tables),
        ("there are tables", [] if ntable else ["none"]),
        ("%d call sites" % nsite, pads),
        ("%d tail calls by pointer" % ntail, tails),
        ("no return", check_noreturn(p, g)),
        ("imports", check_imports(p, g)),
        ("linkage", check_stubs(p, g)),
    ]
