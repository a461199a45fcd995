"""
events_run: programs under `tally events`, and what they do as single steps or
an emulator see it, event by event (doc/events.md).

What an instruction is binutils say, by its text; how much memory it uses qemu
does (qemu-accesses.c), on whatever machine this is.
"""
import json
import re

import count_run
from count_run import *
from objdump_text import Code

BYTES = ["loads", "stores", "load-bytes", "store-bytes"]
FLOW = ["branches", "taken", "calls", "indirect-calls", "returns", "syscalls"]
EVENTS = ["insns", *BYTES, *FLOW, "fp", "vector", "atomics"]


class Told:
    """What a run of `tally events --json` says."""

    def __init__(self, status, out, err, text):
        self.status, self.out, self.err = status, out, err
        self.json = json.loads(text) if text else {"events": {},
                                                   "processes": []}
        self.events = self.json["events"]
        self.least = self.json.get("at_least", {})

    def count(self, event):
        """Its count, or what it is at least."""
        n = self.events.get(event)
        return self.least.get(event) if n is None else n

    def sums(self):
        """Complaints: threads add up to processes, these to the run."""
        bad = []
        for e, n in self.events.items():
            if n is None:
                continue
            parts = [p["events"][e] for p in self.json["processes"]]
            if None in parts or sum(parts) != n:
                bad.append("%s: %s, processes: %s" % (e, n, parts[:9]))
        for p in self.json["processes"]:
            for e, n in p["events"].items():
                parts = [t["events"][e] for t in p.get("threads", ())]
                if parts and n is not None and (
                        None in parts or sum(parts) != n):
                    bad.append("process %d, %s: %s, threads: %s" % (
                        p["pid"], e, n, parts[:9]))
        return bad


def tally_events(here, exe, args, *options, events=EVENTS, **env):
    with tempfile.NamedTemporaryFile("r", dir=here) as file:
        got = quiet([TALLY, "events", "-e", ",".join(events), "--json",
                     "--output", file.name, *options, "--", exe, *args], here,
                    **env)
        return Told(*got, file.read())


# --- what instructions are

CONDITIONS = {"aarch64": r"b\.(?!al\b)|cbn?z|tbn?z", "x86_64":
              r"j(?!mp)|loop|xbegin"}
KINDS = {
    "aarch64": [("calls", r"bl\b|blr|blraa"), ("indirect-calls", "blr"),
                ("returns", "ret|eret"), ("syscalls", "svc"),
                ("branches", r"b\b|b\.|bl\b|blr|br\b|bra|ret|cbn?z|tbn?z")],
    "x86_64": [("calls", "call"), ("indirect-calls", r"call\s+\*"),
               ("returns", "ret"), ("syscalls", r"syscall|int\s+\$0x80"),
               ("branches", "call|ret|j|loop|xbegin")],
}


def text_at(code, address):
    """What an instruction is, without prefixes."""
    return re.sub(r"^((bnd|notrack|repz?|data16|cs|ds)\s+)+", "",
                  code.text(address))


def expected_flow(exe, isa, counts, flow):
    """{event: count} by the text of instructions; flow: {(from, to): n}"""
    code, out = Code(isa, exe), collections.Counter()
    for a, n in counts.items():
        text = text_at(code, a)
        out["insns"] += n
        for event, pattern in KINDS[isa]:
            if re.match(pattern, text):
                out[event] += n
        if re.match(KINDS[isa][-1][1], text) and \
                not re.match(CONDITIONS[isa], text):
            out["taken"] += n
    for (a, to), n in flow.items():
        if a in counts and re.match(CONDITIONS[isa], text_at(code, a)) and \
                to != code.at(a)[0]:
            out["taken"] += n
    return out


def accesses(here, exe, args):
    """{bytes of an instruction: (bytes read, written)}, None: it varies"""
    isa = count_run.ISA
    file = here + "/accesses"
    quiet(["qemu-" + isa, "-plugin", "%s/qemu-accesses.so,out=%s" % (
        count_run.where, file), exe, *args], here)
    out = {}
    for line in open(file):
        w = line.split()
        n = [int(x) for x in w[1:]]
        out[w[0]] = tuple(a if a == b else None
                          for a, b in (n[:2], n[2:]))
    return out


def expected_bytes(exe, isa, counts, seen):
    """({event: count}, {events of which that is not all})"""
    code, out, open_ = Code(isa, exe), collections.Counter(), set()
    data = open(exe, "rb").read()
    segments = [(int(w[2], 16), int(w[1], 16), int(w[4], 16)) for w in (
        l.split() for l in run(tool(isa, "readelf"), "-lW",
                               exe).splitlines()) if w and w[0] == "LOAD"]
    for a, n in counts.items():
        at = next(o + a - v for v, o, size in segments if v <= a < v + size)
        raw = data[at:at + code.at(a)[0] - a].hex()
        for size, what, sum_ in zip(seen.get(raw, (None, None)),
                                    ("loads", "stores"),
                                    ("load-bytes", "store-bytes")):
            if size is None:
                open_ |= {what, sum_}
            elif size:
                out[what] += n
                out[sum_] += n * size
    return out, open_
