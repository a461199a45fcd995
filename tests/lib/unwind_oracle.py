"""
unwind_oracle: unwind tables as other readers see them: instructions by
readelf, run here (llvm-dwarfdump 14 forgets the CFA when a state is restored,
and readelf does not tell expressions in rows), exception tables by a reader
of its own; compared with those of a file whose code was moved, through the map
that move-unwind prints.
"""
import bisect
import functools
import os
import re
import struct
import subprocess


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True,
                          check=True).stdout


# lines of readelf
OPERATION = re.compile(r"  DW_CFA_(\w+):? ?(.*)")
ENTRY = re.compile(r"(\w+) \w+ \w+ (?:(CIE)|FDE cie=(\w+) "
                   r"pc=(\w+)\.\.(\w+)|end)")
AUGMENTATION = re.compile(r"  Augmentation: +(.*)")
REGISTER = re.compile(r"r(\d+)\b(?: \(\w+\))? ?(.*)")


class Fde:
    def __init__(self, start, end, cie):
        self.start, self.end, self.cie = start, end, cie
        self.lsda, self.at, self.row = 0, [], []

    def at_address(self, addr):
        i = bisect.bisect_right(self.at, addr)
        return self.row[max(i - 1, 0)]


class State:
    """One row: where the CFA and the registers are."""

    def __init__(self, of=None):
        self.cfa = of.cfa if of else (None, None)
        self.rule = dict(of.rule) if of else {}
        self.signed = of.signed if of else False

    def text(self):
        rules = ["r%s %s" % r for r in sorted(self.rule.items())]
        return "; ".join(["CFA %s%s" % self.cfa] + rules +
                         ["signed"] * self.signed)


class Machine:
    """Runs instructions as readelf prints them."""

    def __init__(self, start, initial=None):
        self.start, self.initial, self.saved = start, initial, []
        self.now, self.args = State(initial), "0"
        self.at, self.row = [], []

    def text(self):
        return self.now.text() + "; args " + self.args

    def emit(self):
        if self.at and self.at[-1] == self.start:
            self.row[-1] = self.text()
        else:
            self.at.append(self.start)
            self.row.append(self.text())

    def step(self, op, rest):
        if op.startswith("advance_loc") or op == "set_loc":
            self.emit()
            self.start = int(rest.split()[-1], 16)
            return
        if op == "nop":
            return
        now, reg = self.now, REGISTER.match(rest)
        if op in ("def_cfa", "def_cfa_sf"):
            now.cfa = ("r" + reg.group(1),
                       "%+d" % int(reg.group(2).split()[-1]))
        elif op == "def_cfa_register":
            now.cfa = ("r" + reg.group(1), now.cfa[1])
        elif op in ("def_cfa_offset", "def_cfa_offset_sf"):
            now.cfa = (now.cfa[0], "%+d" % int(rest))
        elif op == "def_cfa_expression":
            now.cfa = (rest, "")
        elif op == "remember_state":
            self.saved.append(State(now))
        elif op == "restore_state":
            self.now = self.saved.pop()
        elif op in ("restore", "restore_extended"):
            rule = self.initial.rule.get(int(reg.group(1)))
            now.rule.pop(int(reg.group(1)), None)
            if rule is not None:
                now.rule[int(reg.group(1))] = rule
        elif op in ("AARCH64_negate_ra_state", "GNU_window_save"):
            now.signed = not now.signed
        elif op == "GNU_args_size":
            self.args = rest
        else:
            kind = op.replace("_extended", "").replace("_sf", "")
            now.rule[int(reg.group(1))] = kind + " " + reg.group(2)


class Table:
    """All FDEs of a file by start: what readelf reads, run."""

    def __init__(self, path):
        self.fde, cies = {}, {}
        machine = fde = cie = None
        kind = ""
        p = subprocess.run(["readelf", "--debug-dump=frames", path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, env={**os.environ, "LC_ALL": "C"})
        self.complaints = [line for line in p.stderr.splitlines()
                           if "no .dynamic section" not in line]
        for line in p.stdout.splitlines() + ["00 00 00 end"]:
            m = OPERATION.match(line)
            if m:
                machine.step(m.group(1), m.group(2))
                continue
            m = ENTRY.match(line)
            if m:
                if cie:
                    cies[cie] = machine.now, kind
                elif fde:
                    machine.emit()
                    fde.at, fde.row = machine.at, machine.row
                cie = m.group(1) if m.group(2) else None
                fde, machine = None, Machine(0)
                if m.group(3):
                    of, kind = cies[m.group(3)]
                    fde = Fde(int(m.group(4), 16), int(m.group(5), 16),
                              kind + of.text())
                    self.fde[fde.start] = fde
                    machine = Machine(fde.start, of)
                continue
            m = AUGMENTATION.match(line)
            if m and cie:
                kind = m.group(1)
        self.read_lsdas(path)
        self.starts = sorted(self.fde)

    def read_lsdas(self, path):
        """Exception tables' addresses, by llvm-dwarfdump."""
        start = None
        p = subprocess.run(["llvm-dwarfdump", "--eh-frame", path],
                           stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.DEVNULL)
        for m in re.finditer(r" FDE cie=\w+ pc=(\w+)\.\.\.|"
                             r"LSDA Address: (\w+)", p.stdout):
            if m.group(1):
                start = int(m.group(1), 16)
            elif start in self.fde:
                self.fde[start].lsda = int(m.group(2), 16)

    def find(self, addr):
        i = bisect.bisect_right(self.starts, addr)
        return self.fde[self.starts[i - 1]] if i else None


class Moves:
    """What move-unwind printed: [start, end) of new code and its old place."""

    def __init__(self, text):
        self.moved, self.owner, self.push, self.insn = [], [], [], {}
        for line in text.splitlines():
            word = line.split()
            a, b = int(word[1], 16), int(word[2], 16)
            if word[0] == "moved":
                self.moved.append((a, b, int(word[3], 16)))
            elif word[0] == "insn":
                end = int(word[3], 16)
                self.owner.append((b, end, a))
                self.insn[a] = (b, end)
            elif word[0] == "stub":
                self.owner.append((a, b, int(word[3], 16)))
            elif word[0] == "push":
                self.push.append((a, b, int(word[3])))
        self.owner.sort()
        self.owner_at = [o[0] for o in self.owner]

    def owner_of(self, addr):
        i = bisect.bisect_right(self.owner_at, addr)
        return self.owner[i - 1]

    def arrive(self, old):
        return self.insn[old][0] if old in self.insn else old


# what the linker says of all stubs of x86-64 at once
OF_STUBS = re.compile(
    r"^CFA \(DW_OP_breg7 \(rsp\): (\d+); DW_OP_breg16 \(rip\): 0; "
    r"DW_OP_lit(\d+); DW_OP_and; DW_OP_lit(\d+); DW_OP_ge; DW_OP_lit(\d+); "
    r"DW_OP_shl; DW_OP_plus\)")


def placed(row, at):
    """The row of an old address without asking for the address."""
    def offset(m):
        base, mask, pushed, shift = map(int, m.groups())
        return "CFA r7%+d" % (base + (((at & mask) >= pushed) << shift))
    return OF_STUBS.sub(offset, row) if "DW_OP_and" in row else row


@functools.lru_cache(None)
def lowered(row, down, sp):
    """The row with the stack pointer `down` bytes lower; few rows differ."""
    def add(m):
        return "%s%+d" % (m.group(1), int(m.group(2)) + down)

    def add_plain(m):
        return "%s%d" % (m.group(1), int(m.group(2)) + down)
    row = re.sub(r"^(CFA r%d)([+-]\d+)" % sp, add, row)
    return re.sub(r"(DW_OP_breg%d \(\w+\): )(-?\d+)" % sp, add_plain, row)


def compare_rows(old, new, moves, sp):
    """Complaints about rows: every instruction, push and stub."""
    wrong = old.complaints + new.complaints
    points = []
    # of a large file only some
    for start, end, at in moves.owner[::len(moves.owner) // 50000 + 1]:
        points += [(start, at, 0), (end - 1, at, 0)]
    pushes = []
    for start, end, down in moves.push:
        pushes.append((start, end))
    for start, end, down in moves.push[::len(moves.push) // 50000 + 1]:
        first, last, at = moves.owner_of(start)
        points.append((start, at, down))
        points.append((end - 1, at, down))
        if end < last:
            points.append((end, at, 0))
    pushes.sort()
    for addr, at, down in points:
        if not down:
            i = bisect.bisect_right(pushes, (addr, 1 << 64))
            if i and addr < pushes[i - 1][1]:
                continue
        f, g = old.find(at), new.find(addr)
        if not g or addr >= g.end:
            wrong.append("%x: no FDE" % addr)
            continue
        if f.cie != g.cie:
            continue
        want = lowered(placed(f.at_address(at), at), down, sp)
        got = g.at_address(addr)
        if want != got:
            wrong.append("%x: %s, not %s" % (addr, got, want))
    return wrong, len(points)


class File:
    """Memory of an ELF file by its program headers."""

    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        off, = struct.unpack_from("<Q", self.bytes, 32)
        n, = struct.unpack_from("<H", self.bytes, 56)
        self.load = []
        for i in range(n):
            t, _, o, a, _, z = struct.unpack_from("<IIQQQQ", self.bytes,
                                                  off + 56 * i)
            if t == 1:
                self.load.append((a, a + z, o))

    def offset(self, addr):
        for start, end, off in self.load:
            if start <= addr < end:
                return off + addr - start
        raise ValueError("%x is not in the file" % addr)


class Reader:
    def __init__(self, file, addr):
        self.b, self.at, self.addr = file.bytes, file.offset(addr), addr
        self.delta = self.at - addr

    def here(self):
        return self.at - self.delta

    def u8(self):
        self.at += 1
        return self.b[self.at - 1]

    def leb(self, signed=False):
        v = shift = 0
        while True:
            x = self.u8()
            v |= (x & 127) << shift
            shift += 7
            if x < 128:
                break
        if signed and x & 64:
            v -= 1 << shift
        return v

    def pointer(self, encoding):
        here = self.here()
        fmt = {1: None, 9: None, 2: "<H", 3: "<I", 4: "<Q", 0: "<Q",
               10: "<h", 11: "<i", 12: "<q"}[encoding & 15]
        if fmt:
            v, = struct.unpack_from(fmt, self.b, self.at)
            self.at += struct.calcsize(fmt)
        else:
            v = self.leb(encoding & 15 == 9)
        if v and encoding & 0x70 == 0x10:
            v += here
        return v


def size_of(encoding):
    return {0: 8, 2: 2, 3: 4, 4: 8}[encoding & 7]


def exception_table(file, fde):
    """[(start, end, pad, [what each action means])]."""
    r = Reader(file, fde.lsda)
    base = fde.start
    encoding = r.u8()
    if encoding != 255:
        base = r.pointer(encoding)
    ttype = r.u8()
    types = 0
    if ttype != 255:
        distance = r.leb()
        types = r.here() + distance
    encoding = r.u8()
    length = r.leb()
    end = r.here() + length
    sites = []
    while r.here() < end:
        start, size, pad = (r.pointer(encoding) for _ in range(3))
        action = r.leb()
        sites.append((fde.start + start, fde.start + start + size,
                      base + pad if pad else 0,
                      meaning(file, end + action - 1, ttype, types)
                      if action else []))
    return sites


def type_number(file, n, ttype, types):
    r = Reader(file, types - n * size_of(ttype))
    return "%x%s" % (r.pointer(ttype & 0x7f), "*" if ttype & 0x80 else "")


def meaning(file, at, ttype, types):
    """The chain of actions: types caught, lists allowed, cleanups."""
    chain = []
    while True:
        r = Reader(file, at)
        n = r.leb(True)
        here = r.here()
        step = r.leb(True)
        if n > 0:
            chain.append("catch " + type_number(file, n, ttype, types))
        elif n < 0:
            lists = Reader(file, types - n - 1)
            allowed = iter(lists.leb, 0)
            chain.append("allow " + " ".join(
                type_number(file, a, ttype, types) for a in allowed))
        else:
            chain.append("cleanup")
        if not step:
            return chain
        at = here + step


def compare_sites(old_path, new_path, old, new, moves):
    """Complaints about exception tables, and how many call sites."""
    a, b = File(old_path), File(new_path)
    ends = {}
    for at, (_, end) in moves.insn.items():
        ends[at] = end
    olds = sorted(moves.insn)
    wrong, n = [], 0
    for start, at, _ in moves.moved:
        f, g = old.fde[start], new.fde.get(at)
        if not g:
            wrong.append("%x: no FDE" % at)
            continue
        if not f.lsda:
            continue
        want = []
        for s, e, pad, what in exception_table(a, f):
            if s == e:
                continue
            last = olds[bisect.bisect_left(olds, e) - 1]
            want.append((moves.arrive(s), ends[last],
                         moves.arrive(pad) if pad else 0, what))
        got = exception_table(b, g)
        n += len(got)
        if want != got:
            wrong.append("%x: %s, not %s" % (start, got, want))
    return wrong, n
