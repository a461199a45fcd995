#!/usr/bin/env python3
"""
trace/regions: what is traced of a part of a run is what a trace of all of it
has there: from a procedure on (--from), called directly, by its address or by a
thread, so many instructions (--for), and without what the program leaves out (tally.h). With each encoding,
on either machine.
"""
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
import count_run
from answers import *
from rewrite_run import ISAS

ENCODINGS = ["witness", "bits", "every-branch"]


class Regions(Asker):
    def build(self):
        cc = compiler(count_run.ISA, "gcc")
        sources = [os.path.abspath(p) for p in (
            "tests/progs/trace/regions.c", "src/client/client.c")]
        run(*cc, "-O2", "-Isrc", "-Isrc/client", "-pthread", "-o",
            self.path("regions"), *sources)
        return {l.split()[2]: "0x%x" % int(l.split()[0], 16)
                for l in run("nm", self.path("regions")).splitlines()
                if len(l.split()) == 3}

    def trace(self, how, *options):
        """{thread: lines}, and what was said."""
        words = "trace", "-o", "trace", *options, "--", "./regions", how
        status, out, err = self.tally(*words, env={
            **os.environ, "XDG_CACHE_HOME": self.where,
            "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % count_run.ISA})
        self.output = out
        if status:
            raise Failed("%s: %d, %s" % (" ".join(words), status, err))
        return by_thread(self.lines("--as", "insns")), err

    def addresses(self, how, *options):
        """Accesses of the program's own code."""
        fixed = [] if count_run.EMULATED else ["setarch", "-R"]
        run(*fixed, TALLY, "trace", "-o", "trace", "--addresses", *options,
            "--", "./regions", how, cwd=self.where, env={
                **os.environ, "XDG_CACHE_HOME": self.where,
                "QEMU_LD_PREFIX": "/usr/%s-linux-gnu" % count_run.ISA})
        return [l for l in self.lines("--as", "addresses")
                if l.startswith("regions")]

    def lines(self, *words):
        status, out, err = self.tally("replay", *words, "trace")
        if status or err:
            raise Failed("replay: %d, %s" % (status, err))
        return out.splitlines()


def by_thread(lines):
    threads = {}
    for l in lines:
        m = re.fullmatch(r"# process (\d+) thread (\d+)", l)
        if m:
            at = threads.setdefault((int(m[1]), int(m[2])), [])
        else:
            at.append(l)
    return threads


def code(lines):
    return [l for l in lines if l[0] != "#"]


def first_region(lines):
    """Instructions of the region up to where its caller is not known."""
    at = lines.index("# not traced") + 1
    end = [i for i, l in enumerate(lines) if l.startswith("# a return to")]
    return code(lines[at:end[0] if end else len(lines)])


def check_from(t, symbols, how, name, key, encoding):
    """Of the whole run's instructions, those of the first call."""
    whole = code(t.trace(how, "--encoding", encoding)[0][key])
    told, said = t.trace(how, "--encoding", encoding, "--from", name)
    entry = "regions\t" + symbols[name]
    label = "%s %s: --from %s, %s" % (count_run.ISA, how, name, encoding)
    got = first_region(told[key])
    at = whole.index(entry)
    want = whole[at:at + len(got)]
    bad = [i for i, (a, b) in enumerate(zip(got, want)) if a != b]
    t.ok(len(got) > 100 and got == want and not said, label,
         [len(got), len(want), said, bad[:1]] + got[:3])
    t.ok(told[key][0] == "# not traced", "not from the beginning on",
         told[key][:2])
    t.ok(told[key][-1].startswith("# the "), "how it ended",
         told[key][-2:])
    t.none([l for k in told for l in told[k] if "fit" in l or
            "in code that is not" in l], "nothing that does not fit")


def check_numbers(t, encoding):
    """So many instructions, from the beginning or later on."""
    label = "%s, %s" % (count_run.ISA, encoding)
    whole = code(t.trace("direct", "--encoding", encoding)[0][1, 0])
    for n in 1, 1000, 2500:
        told = t.trace("direct", "--encoding", encoding, "--for", str(n)
                       )[0][1, 0]
        got = code(told)
        t.ok(n <= len(got) < n + 3000 and got == whole[:len(got)],
             "--for %d: %s" % (n, label), [len(got)])
        t.same(told[-2:], ["# not traced", "# not traced any more"],
               "it ends so")
    told = t.trace("direct", "--encoding", encoding, "--from", "3000",
                   "--for", "500")[0][1, 0]
    got = first_region(told)
    at = [i for i in range(2500, len(whole)) if
          whole[i:i + len(got)] == got]
    t.ok(got and at and told[0] == "# not traced", "--from 3000: " + label,
         told[:5])


def check_left_out(t, encoding):
    """What tally_stop() leaves out, and tally_start() goes on with."""
    label = "%s library, %s" % (count_run.ISA, encoding)
    whole = t.trace("library", "--encoding", encoding)[0][1, 0]
    calls = t.lines("--as", "calls")
    def made(name):
        return [l for l in calls if re.match(r" *-> %s\b" % name, l)]
    t.same((len(made("early")), len(made("work")),
            whole.count("# not traced")), (1, 2, 1), label)
    t.ok("fit" not in " ".join(l for l in whole if l[0] == "#"),
         "it goes on where it started again")
    sum_ = t.output
    t.same(t.trace("library", "--from", "tally_start")[0][1, 0].count(
        "# not traced"), 1, "and begins there")
    t.same(t.output, sum_, "the program does what it did")
    calls = t.lines("--as", "calls")
    t.same((len(made("early")), len(made("work"))), (0, 1),
           "with what comes behind")


def check_addresses(t):
    """Values that are written where it is lost are not taken for others."""
    whole = t.addresses("library")[-25:]
    got = t.addresses("library", "--from", "work")
    t.same(got[-25:], whole, "%s: addresses" % count_run.ISA)
    t.ok(len([l for l in got if "?" in l]) < 5, "most are known")


def check_names(t):
    got, out, err = t.tally("trace", "-o", "none", "--from", "nothing", "--",
                            "./regions", "direct")
    t.ok(got == 125 and "nothing" in err and "--from" in err,
         "a name that no procedure has", [got, err])
    told, said = t.trace("direct", "--from", "both")
    t.ok(not told and "empty" in said, "a procedure that never runs", [said])


def main():
    with tempfile.TemporaryDirectory() as where:
        t = Regions(where)
        for isa in sys.argv[1:] or ISAS:
            count_run.use(isa)
            if count_run.missing():
                t.skip(isa, count_run.missing())
                continue
            symbols = t.build()
            for i, (how, name, key) in enumerate((
                    ("direct", "work", (1, 0)), ("pointer", "work", (1, 0)),
                    ("thread", "both", (1, 1)), ("direct", "main", (1, 0)))):
                check_from(t, symbols, how, name, key, ENCODINGS[i % 3])
            check_left_out(t, ENCODINGS[0])
            check_left_out(t, ENCODINGS[1])
            check_numbers(t, ENCODINGS[0])
            check_numbers(t, ENCODINGS[2])
            check_addresses(t)
            check_names(t)
        t.done()


main()
