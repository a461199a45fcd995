#!/usr/bin/env python3
"""
call_tree: what calls cost, callees and all that these called included, from
the single steps of all threads (step_trace.h). An oracle: it knows nothing of
tally.

    call_tree.py [--event EVENT] [--measured NAME,..] [--not NAME,..]
                 [--switches NAME,..] [--twin FILE=SYMBOLS].. OUT

reads OUT.steps.* and OUT.maps.*, and prints rows as JSON, one for each call
site and callee, and on stderr where control was in another procedure than the
one that was called last, by the symbols of files that have them all. Rows:

    image, address          of the call, or jump; null: nobody's
    procedure               the names of who calls
    callee_image, callee, callee_address    callee: its names
    kind                    call, indirect, tail, signal, outside
    calls, inclusive, inclusive_all
    why                     null; "switch" or "left": costs may be unknown

What is counted are instructions that are completed, of the images that are
measured, or only those that are calls, returns or system calls (--event insns,
calls, returns, syscalls); the time below is their number. Each thread has a
stack of open calls:

Begin. A call instruction opens a call of whatever it leads to. If that is a
stub of the linker's table (.plt and its relatives), the stub is the caller's,
and the callee is where control comes out of it. So neither the call
instruction nor the stub are in the call's cost; the callee's first instruction
is. A jump, conditional or not, that leads from one procedure to the entry of
another, or to its own by pointer, with the stack pointer with which the
jumping procedure was entered, opens a call of kind "tail"; it, too, may lead
through a stub.

End. The return instruction is part of the callee. Control comes to the address
behind the call, with the stack pointer that was there before it: that closes
the call and the tail calls on it. A return or an indirect jump to a place of
another procedure that is no entry (longjmp, an exception's landing pad) closes
all calls that were made with a stack pointer no higher than the one that it
arrives with: a procedure that can be landed in has made a call, so it has
something on the stack. What is open when a thread ends is closed then.

Signals. A handler is a root: it has a stack of calls and a time of its own,
and what it interrupted stands still. Its call is closed when it returns; what
leads to rt_sigreturn is nobody's. It is left by a jump if control lands above
the handler's frame (also from an alternate stack, which has to be below the
other one); all calls that were open then are marked "left".

Forks. A child goes on with its parent's open calls, as of now: their cost is
what the parent did and what the child did since, and the calls are the
parent's. A thread begins with none. Up to an exec.

Stacks. --switches names procedures that change stacks. Where one of them
leads to a place other than its caller's, the calls stay open and another
stack goes on: the one that waits for just that address and stack pointer, or
a new one. Each has a time of its own. All calls that are open on any stack of
the thread are marked "switch".

Sums. `calls` are the calls that were opened; `inclusive_all` is the sum of all
costs; `inclusive` leaves out those of calls that are opened while another of
the same callee is open on that stack: it is what the outermost cost. Calls out
of code that is not measured into code that is are "outside" and have no
address; what code that is not measured calls otherwise has no row.
"""
import argparse
import array
import collections
import glob
import json
import os
import re
import sys

from call_code import *

SIGNAL, SIGRETURN, FORKED, FORKED_AT, MARKS = 1, 2, 3, 4, 16
EVENTS = {"insns": (PLAIN, CALL, RETURN, JUMP, BRANCH, SYSCALL),
          "calls": (CALL,), "returns": (RETURN,), "syscalls": (SYSCALL,)}
# instructions of procedures that are called so, which unwind stacks
UNWINDING, UNWINDER = "unwinding", "_Unwind_"
EVENTS[UNWINDING] = EVENTS["insns"]


class Row:
    def __init__(self):
        self.calls = self.outer = self.all = 0
        self.why = None


class Call:
    """One that is open: until `back`, with the stack pointer `base`."""
    __slots__ = "row", "callee", "base", "back", "begin", "outer", "tail"

    def __init__(self, row, callee, base, back, begin, outer, tail):
        self.row, self.callee, self.base = row, callee, base
        self.back, self.begin, self.outer = back, begin, outer
        self.tail = tail        # it ends with the one under it


class Stack:
    """Open calls, and the time that passes on them."""

    def __init__(self):
        self.calls, self.clock = [], 0
        self.open = collections.Counter()
        self.pending = None     # (address, instruction) that leads elsewhere
        self.stub = None        # the same, of who is in a stub now

    def copy(self):
        s = Stack()
        s.open = self.open.copy()
        s.pending, s.stub = self.pending, self.stub
        s.calls = [Call(c.row, c.callee, c.base, c.back, 0, c.outer,
                        c.tail)
                   for c in self.calls]
        return s

    def push(self, row, callee, base, back, tail):
        if row:
            row.calls += 1
        outer = not self.open[callee]
        self.open[callee] += 1
        self.calls.append(Call(row, callee, base, back, self.clock, outer,
                               tail))

    def pop(self):
        c = self.calls.pop()
        self.open[c.callee] -= 1
        if c.row:
            c.row.all += self.clock - c.begin
            if c.outer:
                c.row.outer += self.clock - c.begin

    def close(self):
        while self.calls:
            self.pop()

    def mark(self, why):
        for c in self.calls:
            if c.row:
                c.row.why = c.row.why or why


class Place:
    """An address in memory: what is there, as far as anybody knows."""
    __slots__ = ("image", "address", "insn", "procedure", "stub", "measured",
                 "ticks", "switches", "plain")


class Space:
    """What is where in the memory of a process."""

    def __init__(self, tree, lines):
        self.tree, self.at = tree, {}
        self.maps = []
        for line in lines:
            start, end, delta, path = line.rstrip("\n").split(" ", 3)
            self.maps.append((int(start, 16), int(end, 16), int(delta, 16),
                              path))
        self.maps.reverse()
        self.x86 = False

    def place(self, pc):
        p = self.at.get(pc)
        if p is None:
            p = self.at[pc] = self.look(pc)
        return p

    def look(self, pc):
        p = Place()
        p.image = p.procedure = None
        p.address, p.insn, p.plain = pc, NOTHING, False
        p.stub = p.measured = p.ticks = p.switches = False
        for start, end, delta, path in self.maps:
            if start <= pc < end:
                p.image = self.tree.image(path)
                self.x86 = p.image.isa == "x86_64"
                p.address = pc - delta & (1 << 64) - 1
                p.insn = p.image.insn(p.address)
                p.procedure = p.image.procedure(p.address)
                p.stub = p.image.is_stub(p.address)
                p.measured = self.tree.measured(p.image)
                p.ticks = p.measured and self.tree.is_event(p)
                p.plain = p.insn.kind in (PLAIN, SYSCALL)
                p.switches = bool(p.procedure and
                                  self.tree.switches.intersection(
                                      p.procedure.names))
                break
        return p


class Thread:
    def __init__(self, tree, space, records):
        self.tree, self.space, self.records = tree, space, records
        self.stack = Stack()
        self.under = []         # what handlers interrupted
        self.waiting = []       # stacks that others were switched to from

    def copy_of(self, other):
        self.stack = other.stack.copy()
        self.under = [s.copy() for s in other.under]
        self.waiting = [s.copy() for s in other.waiting]

    def every(self):
        return [self.stack, *self.under, *self.waiting]

    def run(self, begin, end):
        """Records from one on to another."""
        a, at = self.records, self.space.at
        i, n = 2 * begin, 2 * end
        stack, pending = self.stack, self.stack.pending
        clock = stack.clock
        while i < n:
            pc = a[i]
            p = at.get(pc)
            if pending is None and p is not None and p.plain:
                if p.ticks:
                    clock += 1
                i += 2
                continue
            if not pc:
                break
            stack.clock = clock
            if pc < MARKS:
                self.mark(pc, a[i + 1], a, i)
            else:
                if p is None:
                    p = self.space.place(pc)
                if pending is not None:
                    self.stack.pending = None
                    self.arrive(pending, p, pc, a[i + 1])
                    self.check(p)
                self.stack.clock += p.ticks
                if not p.plain:
                    self.stack.pending = pc, p
            stack, pending = self.stack, self.stack.pending
            clock = stack.clock
            i += 2
        stack.clock = clock

    def finish(self):
        for s in self.every():
            s.close()

    def check(self, p):
        """Where control is is in the procedure that was called last."""
        calls = self.stack.calls
        if p.stub or not p.procedure or not p.image.full or not calls:
            return
        path, address = calls[-1].callee
        if path != p.image.path or \
                p.image.procedure(address) is not p.procedure:
            self.tree.strange[p.procedure.name(), os.path.basename(
                path or ""), address] += 1

    # --- what the kernel did

    def mark(self, what, value, a, i):
        if what == SIGNAL:
            self.under.append(self.stack)
            self.stack = Stack()
            pc, sp = (a[i + 2], a[i + 3]) if i + 3 < len(a) else (0, 0)
            p = self.space.place(pc)
            self.push(self.tree.row(None, p, "signal", "[signal %d]" % value)
                      if p.measured else None, p, self.base(sp), None)
        elif what == SIGRETURN and self.under:
            self.stack.close()
            self.stack = self.under.pop()

    # --- calls

    def base(self, sp):
        """The stack pointer before a call, at the callee's entry."""
        return sp + 8 if self.space.x86 else sp

    def push(self, row, p, base, back, tail=False):
        self.stack.push(row, (p.image and p.image.path, p.address), base, back,
                        tail)

    def arrive(self, pending, p, pc, sp):
        """Control is at p, out of an instruction that leads elsewhere."""
        site_pc, site = pending
        stack = self.stack
        if site.image is None:
            # who knows how: the kernel's code, or what was made at run time
            if p.image:
                self.land(site, pc, sp)
            return
        if stack.stub and site.stub:
            site_pc, site = stack.stub
        elif stack.stub:
            stack.stub = None
        kind = site.insn.kind
        if p.stub and not site.stub and kind in (CALL, JUMP, BRANCH):
            stack.stub = site_pc, site
            return
        if p.stub:
            return
        stack.stub = None
        if kind == CALL:
            self.open_call(site, p, site_pc, sp)
        elif kind == RETURN:
            self.land(site, pc, sp)
        else:
            self.jump(site, p, pc, sp)

    def open_call(self, site, p, site_pc, sp):
        kind = "indirect" if site.insn.indirect else "call"
        self.push(self.tree.row(site, p, kind), p, self.base(sp),
                  site_pc + site.insn.size)

    def jump(self, site, p, pc, sp):
        own = site.procedure is p.procedure and site.procedure is not None
        entry = p.procedure and p.procedure.start == p.address
        if own and not (site.insn.indirect and entry):
            return
        calls = self.stack.calls
        if entry:
            if not calls:
                # where a thread begins: nobody will return from there
                self.push(self.tree.row(site, p, "tail"), p, 1 << 64, None)
            elif calls[-1].base in (self.base(sp), 1 << 64):
                self.push(self.tree.row(site, p, "tail"), p, calls[-1].base,
                          calls[-1].back, True)
            elif site.switches:
                self.land(site, pc, sp)
        elif site.insn.indirect:
            self.land(site, pc, sp)

    # --- returns, and what is like them

    def land(self, site, pc, sp):
        stack = self.stack
        calls = stack.calls
        # the usual way
        for k in range(len(calls) - 1, -1, -1):
            c = calls[k]
            if c.base > sp:
                break
            if c.back == pc and c.base == sp:
                while calls[k].tail:
                    k -= 1
                while len(calls) > k:
                    stack.pop()
                return
        if site.switches:
            self.switch(pc, sp)
            return
        while self.under and (not calls or calls[0].base < sp) and \
                not self.returns(sp):
            self.leave()
            stack = self.stack
            calls = stack.calls
        while calls and calls[-1].base <= sp:
            stack.pop()

    def returns(self, sp):
        """Does the handler itself return?"""
        calls = self.stack.calls
        return bool(calls) and calls[0].base == sp

    def leave(self):
        """The handler is left for what it interrupted."""
        for s in (self.stack, *self.under):
            s.mark("left")
        self.stack.close()
        self.stack = self.under.pop()
        self.stack.pending = self.stack.stub = None

    def switch(self, pc, sp):
        for s in self.every():
            s.mark("switch")
        self.waiting.append(self.stack)
        for s in self.waiting:
            if any(c.back == pc and c.base == sp for c in s.calls[-4:]):
                self.waiting.remove(s)
                self.stack = s
                while not (s.calls[-1].back == pc and
                           s.calls[-1].base == sp):
                    s.pop()
                s.pop()
                return
        self.stack = Stack()


class Tree:
    def __init__(self, out, measured=(), unmeasured=(), switches=(), twins={},
                 event="insns"):
        self.out, self.twins, self.event = out, twins, event
        self.only, self.without = set(measured), set(unmeasured)
        self.switches = {"swapcontext", "setcontext", "__start_context",
                         *switches}
        self.images, self.rows, self.spaces = {}, {}, {}
        self.strange = collections.Counter()

    def image(self, path):
        if path not in self.images:
            self.images[path] = Image(path, self.twins.get(path))
        return self.images[path]

    def is_event(self, place):
        names = place.procedure.names if place.procedure else ()
        return place.insn.kind in EVENTS[self.event] and (
            self.event != UNWINDING or
            any(n.startswith(UNWINDER) for n in names))

    def measured(self, image):
        name = image.name
        if self.only:
            return name in self.only
        return not re.match(r"ld-linux|ld-musl|ld\.so", name) and \
            name not in self.without

    def row(self, site, p, kind, name=None):
        if site and not site.measured:
            if not p.measured:
                return None
            site, kind = None, "outside"
        key = (site and site.image, site and site.address, p.image, p.address,
               kind, name or site and site.procedure)
        if key not in self.rows:
            self.rows[key] = Row()
        return self.rows[key]

    def space(self, pid, parent):
        if pid not in self.spaces:
            lines = []
            if parent is not None:
                lines = list(self.lines[parent])
            try:
                lines += open("%s.maps.%d" % (self.out, pid)).readlines()
            except FileNotFoundError:
                pass
            self.lines[pid] = lines
            self.spaces[pid] = Space(self, lines)
        return self.spaces[pid]

    def read(self):
        """All threads, parents first."""
        self.lines, self.traces = {}, {}
        traces = self.traces
        for name in glob.glob(glob.escape(self.out) + ".steps.*"):
            pid, tid = map(int, name.rsplit(".", 2)[1:])
            a = array.array("Q")
            with open(name, "rb") as f:
                a.frombytes(f.read())
            traces[tid] = pid, a
        children = collections.defaultdict(list)
        roots = []
        for tid, (pid, a) in sorted(traces.items()):
            if len(a) >= 4 and a[0] == FORKED:
                children[a[1]].append((a[3], tid))
            else:
                roots.append(tid)
        todo = [(tid, None, None) for tid in roots]
        while todo:
            tid, parent, ppid = todo.pop()
            pid, a = traces[tid]
            t = Thread(self, self.space(pid, ppid), a)
            at = 0
            if parent:
                t.copy_of(parent)
                at = 2
            for n, child in sorted(children[tid]):
                t.run(at, n)
                at = n
                snap = Thread(self, t.space, a)
                snap.copy_of(t)
                todo.append((child, snap, pid))
            t.run(at, len(a) // 2)
            t.finish()
        return self

    def table(self):
        out = []
        for (image, address, to, callee, kind, name), r in self.rows.items():
            # a stub at the entry of nothing has no name
            p = to and to.at.get(callee)
            who = [name] if isinstance(name, str) else \
                name.names if name and image else []
            out.append({
                "image": image and image.path,
                "address": None if address is None else "%#x" % address,
                "procedure": who, "callee_image": to and to.path,
                "callee": p.names if p else [],
                "callee_address": "%#x" % callee, "kind": kind,
                "calls": r.calls, "inclusive": r.outer,
                "inclusive_all": r.all, "why": r.why})
        return sorted(out, key=lambda r: (r["image"] or "", int(
            r["address"] or "0", 16), r["callee_image"] or "",
            int(r["callee_address"], 16), r["kind"]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--event", choices=EVENTS, default="insns")
    ap.add_argument("--measured", default="")
    ap.add_argument("--not", default="", dest="unmeasured")
    ap.add_argument("--switches", default="")
    ap.add_argument("--twin", action="append", default=[])
    ap.add_argument("out")
    args = ap.parse_args()
    names = lambda s: [n for n in s.split(",") if n]
    tree = Tree(args.out, names(args.measured), names(args.unmeasured),
                names(args.switches),
                dict(t.split("=", 1) for t in args.twin), args.event).read()
    json.dump(tree.table(), sys.stdout, indent=1)
    print()
    for (where, *called), n in tree.strange.items():
        print("in %s, but %s %#x was called: %d times" % (where, *called, n),
              file=sys.stderr)


if __name__ == "__main__":
    main()
