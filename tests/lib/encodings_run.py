"""
encodings_run: instructions of all kinds that access memory, what decode() says
of them (tests/tools/list-effects.c), and where qemu is wrong about them.

They are for tests/e2e/isa/slots-run.c, which runs each in an emulator.
"""
import os
import random
import re

from cfg_oracle import NAMES, TALLY, run

LIST = os.path.join(os.path.dirname(TALLY), "tools/list-effects")
WORDS = 40000
# isa.h
UNKNOWN, SEQ, TRAP, SYSCALL = 1, 2, 9, 10
EXCL_STORE = 2


class Effects:
    """A line of list-effects."""

    def __init__(self, line):
        words = line.split()
        self.hex = words[0]
        self.kind, self.read, self.written, self.mem_class, self.fp, \
            self.packed = map(int, words[1:])


def effects(isa, lines):
    """What decode() says, by bytes."""
    said = run(LIST, NAMES[isa], input="".join(x + "\n" for x in lines))
    return {e.hex: e for e in map(Effects, said.splitlines())}


def words_a64():
    """Loads and stores at x1, of the group and of SVE."""
    chance = random.Random(1)
    for _ in range(WORDS):
        w = chance.getrandbits(32)
        if chance.random() < .8:
            w = w & ~(5 << 25) | 4 << 25
        else:
            w = w & ~(15 << 25) | 2 << 25 | 1 << 31
        if w & 0x3b000000 == 0x18000000:
            w &= ~0x00ffffe0    # a literal: where the code is
        else:
            w = w & ~(31 << 5) | 1 << 5
        yield w.to_bytes(4, "little").hex()
    yield 0xd50b7421.to_bytes(4, "little").hex()    # dc zva, x1


PREFIXES = [0x26, 0x2e, 0x36, 0x3e, *range(0x40, 0x50), 0x64, 0x65, 0x66, 0x67,
            0xf0, 0xf2, 0xf3]
# escapes and other encodings; segment registers, by which threads are known
LEFT_OUT = [*PREFIXES, 0x0f, 0x62, 0x8e, 0xc4, 0xc5]
LEFT_OUT_0F = [0x38, 0x3a, 0xa1, 0xa9, 0xb2, 0xb4, 0xb5]


def operand(reg):
    """ModRM and what may follow: 0x40(%rbx), and an immediate of 0."""
    return "%02x40%s" % (0x43 | reg << 3, "00" * 8)


def legacy_x64():
    for before in "", "66", "f2", "f3", "f0":
        for rex in "", "48":
            for op in range(256):
                for reg in range(8):
                    to = rex + "%02x" % op + operand(reg)
                    if op not in LEFT_OUT:
                        yield before + to
                    if op not in LEFT_OUT_0F:
                        yield before + rex + "0f" + to[len(rex):]
                for escape in "0f38", "0f3a":
                    yield before + rex + escape + "%02x" % op + operand(2)


def vex_x64():
    for place in range(1, 4):
        for fields in range(8):     # the length and the mandatory prefix
            for w in 0, 0x80:
                for op in range(256):
                    yield "c4%02x%02x%02x" % (0xe0 | place, 0x70 | fields | w,
                                              op) + operand(2)


def is_long_scalar(e):
    """qemu 7.2 stops at some instructions that ignore VEX.L."""
    return e.hex.startswith("c4") and int(e.hex[4:6], 16) & 4 and not e.packed


def encodings(isa):
    """Instructions that are run one by one."""
    if isa == "aarch64":
        return [e.hex for e in effects(isa, words_a64()).values()
                if e.kind == SEQ]
    return [e.hex for e in effects(isa, [*legacy_x64(), *vex_x64()]).values()
            if e.kind == SEQ and not is_long_scalar(e)]


# where qemu 7.2 reads more or less than the architecture says
QEMU_IS_WRONG = {
    "x86_64": [
        ("0f60", "0f61", "0f62"),               # punpckl of MMX: 4 bytes
        ("f30fe6",),                            # cvtdq2pd: 8
        ("dd6340", "d96340"),                   # frstor, fldenv: all of it
        ("dd7340",),                            # fnsave: REX.W moves a part
        ("660f38f0", "660f38f1"),               # movbe: REX.W comes first
        ("660f1a", "660f1b"),                   # bndmov, where MPX is off
        ("f0f65b", "f0f75b"),                   # lock neg: tries again
    ],
    "aarch64": [],
}


def vex_is_wrong(h):
    """VEX: shifts by a count in memory, and scalars of multiply-add."""
    place, last, op = int(h[2:4], 16) & 31, int(h[4:6], 16), int(h[6:8], 16)
    if place == 1:
        return op in (0xd1, 0xd2, 0xd3, 0xe1, 0xe2, 0xf1, 0xf2, 0xf3, 0xe6)
    return place == 2 and 0x96 <= op <= 0xbf and op & 1 and last & 3 == 1


def is_wrong(isa, h):
    if isa == "x86_64" and h.startswith("c4"):
        return vex_is_wrong(h)
    plain = re.sub("^(f[023])?(66)?48", r"\1\2", h)
    if plain.startswith(("f2d", "f3d", "66d")):
        plain = plain[2:]
    return any(plain.startswith(x) for x in QEMU_IS_WRONG[isa])
