"""
moved_a64: is moved AArch64 code what it was (moved_code)? Written anew are

    b.cond cbz tbz     the opposite over a jump, if they have to go far
    adr                adrp, add
    ldr of a literal   adrp, (add,) ldr; or the same, of a copy
    prfm of a literal  nop
    calls of stubs     of a shorter stub that does the same
    jumps by tables    moved_a64_tables

In the old place of each is a slot, a jump to the new place; or the old trap.
"""
import re

from cfg_oracle import tally_cfg
from moved_a64_tables import Tables
from moved_code import MovedCode

BRANCH = re.compile(r"(b|bl|b\.\w+|bc\.\w+|cbn?z|tbn?z)$")
TRAP = re.compile(r"brk|udf|hlt|\.")      # data that is one
OPPOSITE = {"eq": "ne", "cs": "cc", "mi": "pl", "vs": "vc", "hi": "ls",
            "ge": "lt", "gt": "le"}
OPPOSITE.update({v: k for k, v in list(OPPOSITE.items())})
COMMENT = re.compile(r"\s*(?://|<)")
SIZES = {"w": 4, "x": 8, "s": 4, "d": 8, "q": 16}


def last(operands):
    """the address at the end of the operands"""
    return int(operands.split(", ")[-1].split()[-1], 16)


def opposite(name):
    if name.startswith("b."):
        return "b." + OPPOSITE[name[2:]]
    return {"cbz": "cbnz", "cbnz": "cbz", "tbz": "tbnz",
            "tbnz": "tbz"}[name]


def parts(text):
    """(mnemonic, operands)"""
    name, _, operands = text.partition("\t")
    if "<" in operands or "//" in operands:     # few have any
        operands = COMMENT.split(operands, 1)[0]
    return name, operands


class Pair(MovedCode):
    ends = re.compile(r"(b|br|ret|eret|brk|udf|hlt|braaz?|brabz?)\t|"
                      r"(ret|eret|reta[ab])$|\.")

    def __init__(self, old, new, counts=False):
        MovedCode.__init__(self, "aarch64", old, new, counts)
        self.tables = Tables(self, tally_cfg(old))

    def was(self, a):
        return parts(self.old.text(a))

    def now(self, n):
        return parts(self.new.text(n))

    def jump(self, at):
        name, text = self.now(at)
        return (at + 4, last(text)) if name == "b" else None

    def link(self, stub, copy):
        """is the new code a copy of the linker's stub?"""
        if not any(stub in r for r in self.stubs):
            return False
        page, load = self.was(stub), self.was(stub + 4)
        code = [self.now(copy + i) for i in (0, 4, 8)]
        m = re.match(r"x17, \[x16(?:, #(\d+))?\]$", load[1])
        return m and page[0] == "adrp" and code == [
            ("adr", "x16, %x" % (last(page[1]) + int(m.group(1) or 0))),
            ("ldr", "x17, [x16]"), ("br", "x17")]

    def branch(self, name, text, n):
        *front, _ = text.split(", ")
        to = last(text)
        got, words = self.now(n)
        if got not in (name, "b", "bl") and got != opposite(name):
            return None
        *new_front, _ = words.split(", ")
        if got == name or name in ("b.al", "b.nv") and got == "b":
            new = last(words)
            return n + 4 if new_front == front and \
                (self.leads(new, to) or self.link(to, new)) else None
        return self.jumps(n + 4, to) if new_front == front and \
            last(words) == n + 8 else None

    def address(self, n, reg):
        """(what adrp and perhaps add make in the register, the end)"""
        name, text = self.now(n)
        if name != "adrp" or text.split(", ")[0] != reg:
            return None, n
        m = re.match(r"%s, %s, #0x([0-9a-f]+)$" % (reg, reg),
                     self.now(n + 4)[1])
        if self.now(n + 4)[0] == "add" and m:
            return last(text) + int(m.group(1), 16), n + 8
        return last(text), n + 4

    def literal(self, name, text, n):
        reg = text.split(",")[0]
        got, words = self.now(n)
        if got == "adrp":
            base, n = self.address(n, words.split(",")[0])
            got, words = self.now(n)
            m = re.match(r"%s, \[(\w+)(?:, #(\d+))?\]$" % reg, words)
            return n + 4 if got == name and m and \
                m.group(1)[1:] == reg[1:] and \
                base + int(m.group(2) or 0) == last(text) else None
        size = SIZES[reg[0]]
        return n + 4 if got == name and words.split(",")[0] == reg and \
            self.new_bytes.at(last(words), size) == \
            self.old_bytes.at(last(text), size) else None

    def rewritten(self, a):
        (name, text), n = self.was(a), self.moved[a]
        if a in self.tables.part:
            return self.tables.check(a)
        if BRANCH.match(name):
            return self.branch(name, text, n)
        if name == "adr" and not text.startswith("xzr"):
            addr, end = self.address(n, text.split(",")[0])
            return end if addr == last(text) else None
        if name in ("ldr", "ldrsw") and "[" not in text:
            return self.literal(name, text, n)
        if name == "prfm" and "[" not in text:
            return n + 4 if self.now(n)[0] == "nop" else None
        return n + 4 if self.now(n) == (name, text) or \
            name.startswith(".") and self.same_bytes(a, n) else None

    def same_bytes(self, a, n):
        return self.old_bytes.at(a, 4) == self.new_bytes.at(n, 4)

    def wrong_slots(self):
        out = []
        for a in self.order:
            if not self.jumps(a, a) and not (
                    TRAP.match(self.old.text(a)) and self.same_bytes(a, a)):
                out.append("%x: no slot: %s" % (a, self.new.text(a)))
        return out
