"""
moved_a64: is moved AArch64 code what it was, as objdump reads both?

The slots of a rewritten file say where every instruction went; what stands
there has to be the same instruction, and to refer to the same thing.
"""
import re

from objdump_text import Bytes, Code

BRANCH = re.compile(r"^(b|bl|b\.\w+|bc\.\w+|cbn?z|tbn?z)$")
OPPOSITE = {"eq": "ne", "cs": "cc", "mi": "pl", "vs": "vc", "hi": "ls",
            "ge": "lt", "gt": "le"}
OPPOSITE.update({v: k for k, v in list(OPPOSITE.items())})


def disassemble(path):
    """{address: (mnemonic, operands)}"""
    out = {}
    for addr, (_, text) in Code("aarch64", path).insn.items():
        name, _, operands = text.partition("\t")
        out[addr] = (name, re.split(r"\s*(?://|<)", operands)[0])
    return out


def last(operands):
    """the address at the end of the operands"""
    return int(operands.split(", ")[-1].split()[-1], 16)


def immediate(operands):
    m = re.search(r"#(?:0x)?([0-9a-f]+)", operands)
    return int(m.group(1), 16 if "#0x" in operands else 10) if m else 0


def opposite(name):
    if name.startswith("b."):
        return "b." + OPPOSITE[name[2:]]
    return {"cbz": "cbnz", "cbnz": "cbz", "tbz": "tbnz",
            "tbnz": "tbz"}[name]


class Pair:
    """A file and what it became."""

    def __init__(self, old, new):
        self.old, self.new = disassemble(old), disassemble(new)
        self.old_bytes, self.new_bytes = Bytes(old), Bytes(new)
        edge = max(self.old) + 4
        self.moved = {}
        for a in self.old:
            name, text = self.new.get(a, ("", ""))
            if name == "b" and last(text) >= edge:
                self.moved[a] = last(text)

        self.jumps, self.checked = self.dispatches(), 0
        self.parts = {a for v in self.jumps.values() for a in v}

    def went(self, addr):
        return self.moved.get(addr, addr)

    def link(self, stub, copy):
        """is the new code a copy of the linker's stub?"""
        page, load = (self.old.get(stub + i, ("", "")) for i in (0, 4))
        code = [self.new.get(copy + i, ("", "")) for i in (0, 4, 8)]
        if page[0] != "adrp" or [c[0] for c in code] != ["adr", "ldr", "br"]:
            return False
        m = re.match(r"x17, \[x16(?:, #(\d+))?\]$", load[1])
        return m and last(code[0][1]) == last(page[1]) + \
            int(m.group(1) or 0) and code[0][1].startswith("x16") and \
            code[1][1] == "x17, [x16]" and code[2][1] == "x17"

    def branch(self, name, text, n):
        """complaint about a branch that went to n"""
        want = self.went(last(text))
        got, words = self.new[n]
        if got == name and self.link(want, last(words)):
            want = last(words)
        front = text.split(", ")[:-1]
        if got == name:
            return words.split(", ")[:-1] != front or last(words) != want
        if name in ("b.al", "b.nv"):
            return got != "b" or last(words) != want
        after, to = self.new[n + 4]
        return got != opposite(name) or last(words) != n + 8 or \
            words.split(", ")[:-1] != front or after != "b" or \
            last(to) != want

    def address(self, n):
        """what adrp and the instruction behind it make"""
        page, (name, text) = self.new[n], self.new[n + 4]
        if page[0] != "adrp":
            return None
        if name == "add":
            return last(page[1]) + immediate(text)
        m = re.match(r"(\w+), \[(\w+)(?:, #(\d+))?\]", text)
        if name in ("ldr", "ldrsw") and m:
            return last(page[1]) + int(m.group(3) or 0)
        return None

    def literal(self, text, n):
        """complaint about a literal load"""
        reg = text.split(",")[0]
        size = {"w": 4, "x": 8, "s": 4, "d": 8, "q": 16}[reg[0]]
        name, words = self.new[n]
        if name == "adrp":
            return self.address(n) != last(text)
        return words.split(",")[0] != reg or \
            self.new_bytes.at(last(words), size) != \
            self.old_bytes.at(last(text), size)

    def dispatches(self):
        """{old br: the old instructions before it that became one jump}"""
        at = {}
        for a, n in self.moved.items():
            at.setdefault(n, []).append(a)
        return {max(v): sorted(v) for v in at.values() if len(v) > 1 and
                self.old[max(v)][0] == "br"}

    def bound(self, a, index):
        """how many entries the comparison before says, at least 1"""
        for back in range(a, a - 64, -4):
            m = re.match(r"%s, #0x([0-9a-f]+)$" % index,
                         self.old.get(back, ("", ""))[1])
            if m and self.old[back][0] == "cmp":
                return int(m.group(1), 16) + 1
        return 1

    def dispatch(self, group):
        """complaint about a jump by a copied table; gcc's own shape only"""
        old = [self.old[a] for a in group]
        m = re.match(r"(w\d+), \[x\d+, (w\d+), uxtw(?: #\d)?\]", old[0][1])
        t = re.match(r"x\d+, x\d+, #0x([0-9a-f]+)",
                     self.old.get(group[0] - 4, ("", ""))[1])
        if [o[0] for o in old] != [old[0][0], "adr", "add", "br"] or \
                not m or not t or self.old[group[0] - 8][0] != "adrp":
            return False
        size = {"ldrb": 1, "ldrh": 2, "ldrsb": 1, "ldrsh": 2}.get(old[0][0])
        n = self.moved[group[0]]
        if self.new[n][0] != "adr" or self.new[n + 4][0] != "ldrsw" or \
                self.new[n + 12][0] != "br" or not size:
            return True
        table = last(self.old[group[0] - 8][1]) + int(t.group(1), 16)
        base, copy = last(old[1][1]), last(self.new[n][1])
        for i in range(self.bound(group[0], m.group(2))):
            entry = int.from_bytes(self.old_bytes.at(table + size * i, size),
                                   "little", signed="sx" in old[2][1])
            go = int.from_bytes(self.new_bytes.at(copy + 4 * i, 4), "little",
                                signed=True)
            if self.went(base + 4 * entry) != copy + go:
                return True
        self.checked += 1
        return False

    def wrong(self, a):
        """does the instruction that was at a do something else?"""
        (name, text), n = self.old[a], self.moved[a]
        if n not in self.new:
            return True
        if a in self.jumps:
            return self.dispatch(self.jumps[a])
        if a in self.parts:
            return False
        if BRANCH.match(name):
            return self.branch(name, text, n)
        if name == "adr" and not text.startswith("xzr"):
            return self.address(n) != last(text)
        if name in ("ldr", "ldrsw") and "[" not in text:
            return self.literal(text, n)
        if name == "prfm" and "[" not in text:
            return self.new[n][0] != "nop"
        return self.new[n] != (name, text)

    def complaints(self):
        return ["%x: %s %s -> %x: %s %s" % (
            a, *self.old[a], self.moved[a],
            *self.new.get(self.moved[a], ("?", "?")))
            for a in sorted(self.moved) if self.wrong(a)]
