#!/usr/bin/env python3
"""
isa/accesses: where instructions access memory (isa->accesses()), by qemu.

qemu says of every instruction that it runs which registers there were before
it, and which memory it accessed (tests/lib/qemu-addresses.c): that must be
what follows from the registers (tests/tools/compare-accesses.c). The programs
are tests/progs/accesses.cc, compiled in several ways, and slots-run.c with
single instructions of all encodings, as in effects.t.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from encodings_run import *

tap = Tap()
HERE = os.path.dirname(os.path.abspath(__file__))
COMPARE = os.path.join(os.path.dirname(TALLY), "tools/compare-accesses")
ENOUGH = 1 << 40
# where programs that are loaded at 4 MB have no code, but get memory
SLOTS = (1 << 36, 1 << 40)
# instructions of a program that are compared
MOST, LEAST = 300000, 60000

# program's flags, the emulated processor, and what must have been met
PROGRAMS = {
    "aarch64": [
        (["-O2"], "cortex-a57", ["exclusive"]),
        (["-O3", "-march=armv8-a", "-mno-outline-atomics"], "max",
         ["exclusive"]),
        (["-O3", "-march=armv8.1-a+lse"], "max", ["atomic"]),
        (["-O0", "-march=armv8.3-a+rcpc"], "cortex-a76", ["atomic"]),
    ],
    "x86_64": [
        (["-O2"], "qemu64", ["atomic", "string"]),
        (["-O3", "-march=haswell"], "max", ["atomic"]),
        (["-O0"], "max", ["atomic"]),
        (["-Os", "-mmemcpy-strategy=rep_byte:-1:align"], "qemu64", ["string"]),
    ],
}


def plugin_made(folder):
    plugin = os.path.join(folder, "addresses.so")
    run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", plugin,
        "tests/lib/qemu-addresses.c")
    return plugin


def single_steps(emulator):
    """The option's name: it has changed."""
    new = "-one-insn-per-tb"
    return new if new in run(emulator, "-h") else "-singlestep"


def compared(isa, plugin, cpu, program, bounds, most, lines=None):
    """What compare-accesses says: complaints, and what it counted."""
    emulator = "qemu-" + isa
    log, log_in = os.pipe()
    words = [emulator, "-cpu", cpu, single_steps(emulator), "-d",
             "cpu,nochain,plugin", "-dfilter",
             "0x%x+0x%x" % (bounds[0], bounds[1] - bounds[0]), "-D",
             "/dev/fd/%d" % log_in, "-plugin",
             "%s,from=%d,to=%d,most=%d" % (plugin, *bounds, most), program]
    judge = subprocess.Popen([COMPARE, NAMES[isa]], stdin=log,
                             stdout=subprocess.PIPE, text=True)
    os.close(log)
    subprocess.run(words, pass_fds=[log_in], stdout=subprocess.DEVNULL,
                   input=lines, text=True, timeout=1200)
    os.close(log_in)
    *complaints, total = judge.communicate()[0].splitlines()
    counted = dict(x.split("=") for x in total.split()[3:])
    return complaints, total, {k: int(v) for k, v in counted.items()}, \
        int(total.split()[1])


def differences(isa, complaints):
    """One for each instruction, but where qemu is wrong."""
    first = {x.split()[0]: x for x in reversed(complaints)}
    return [x for h, x in first.items() if not is_wrong(isa, h)]


def check_program(isa, plugin, folder, flags, cpu, met):
    title = "%s: %s" % (NAMES[isa], " ".join(flags))
    program = os.path.join(folder, isa + ".program")
    run(*compiler(isa, "g++"), *flags, "-static", "-o", program,
        "tests/progs/accesses.cc")
    complaints, total, counts, n = compared(isa, plugin, cpu, program,
                                            (0, ENOUGH), MOST)
    tap.none(differences(isa, complaints), title)
    tap.ok(n > LEAST and counts["plain"] > n / 7 and
           all(counts[x] for x in met), title + ": much is compared", [total])


def index_words():
    """[x1, Rm, extended]: any other extension would be far from memory."""
    chance = random.Random(2)
    for _ in range(4000):
        w = chance.getrandbits(32) & 0xc4c0101f | 0x38200820
        m = chance.choice([x for x in range(2, 29) if x != w & 31])
        option = chance.choice((2, 3, 6, 7))
        shift = w >> 30 | (w >> 26 & w >> 23 & 1) << 2
        shift *= w >> 12 & 1
        words = [0x92800000 | 15 << 5 | m]              # mov xM, #-16
        if option == 6:
            words = [0x12800000 | 15 << 5 | m]          # mov wM, #-16
        if option == 2:                                 # sub x1, x1, wM, uxtw
            words.append(0xcb204021 | m << 16 | shift << 10)
        words.append(w | m << 16 | option << 13)
        yield "".join(x.to_bytes(4, "little").hex() for x in words)


def places_x64():
    """Operands of other forms: with an index, on the stack, hidden."""
    for op in "8b", "89", "01", "488b", "660f6f", "0f10", "dd", "6689", "0fb6":
        for form in ("4424f0", "44e3f0", "0423", "440bf0", "044b", "448b10",
                     "84cb00000000", "8400f0ffffff", "45f0", "8500010000",
                     "0500000000", "4407f0"):
            yield op + form
    yield from ("ff742440", "ff7424f0", "8f442440", "668f442440", "ff3424",
                "8f0424", "66ff742410", "ff7340", "8f4340", "50", "58", "6650",
                "6658", "9c", "9d", "669c", "6a11", "6811223344", "6668112233",
                "c9", "c8000000", "c8100000", "66c9", "d7", "0fa0", "0fa8",
                "a4", "a5", "48a5", "66a5", "f3a4", "f3a5", "f348a5", "f366a5",
                "f2a4", "f3aa", "f348ab", "f3ac", "f3a6", "f2a6", "f3af",
                "f2ae", "f348a7", "a6", "ae", "ab", "ac", "fdf3a4", "fd48a5",
                "fdf3ab", "fdf3a6", "f30fc7f0", "660ff7c1", "0ff7c1",
                "0fab4340", "480fab4340", "f00fab4340", "0fba6b4005",
                "f00fc74b40", "f0480fc74b40", "480fc74b40", "f0480fb14b40",
                "0fb14b40", "864b40", "48874b40", "f048ff4340", "64488b042500"
                "000000", "644c8b042528000000", "c4e2719043f0", "c5f96f0423",
                "0fae4340", "0fae4b40", "480fae4340", "db6b40", "db7b40",
                "c4e2792c4b40", "c4e2752c4b40", "c4e2718e4b40", "0fc64b4011",
                "0f0d4b40", "0f184b40")


def check_slots(isa, plugin, folder):
    title = NAMES[isa] + ": single instructions"
    program = os.path.join(folder, isa + ".slots")
    run(*compiler(isa, "gcc"), "-O1", "-static", "-o", program,
        HERE + "/slots-run.c")
    lines = encodings(isa)
    lines += index_words() if isa == "aarch64" else places_x64()
    complaints, total, counts, n = compared(
        isa, plugin, "max", program, SLOTS, ENOUGH,
        "".join(x + "\n" for x in lines))
    tap.none(differences(isa, complaints), title)
    tap.ok(n > 20000, title + ": many are compared", [total])


def check(isa, folder):
    emulator = "qemu-" + isa
    if not compiler(isa, "g++") or not shutil.which(emulator) or \
            "-plugin" not in run(emulator, "-h"):
        tap.skip(NAMES[isa], "no %s with plugins, or no compiler" % emulator)
        return
    plugin = plugin_made(folder)
    for flags, cpu, met in PROGRAMS[isa]:
        check_program(isa, plugin, folder, flags, cpu, met)
    check_slots(isa, plugin, folder)


with tempfile.TemporaryDirectory() as folder:
    for isa in ISAS:
        check(isa, folder)
tap.done()
