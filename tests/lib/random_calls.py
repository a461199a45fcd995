#!/usr/bin/env python3
"""
random_calls: random C programs about calls and what passes through them.

    random_calls.py SEED [FOLDER]

writes FOLDER/main.c and FOLDER/other.c (a second file, which may be a shared
library); the same seed is the same program. What a compiler knows of a callee
decides in which registers it leaves values across a call, so the procedures
are of all kinds: with one, two or no results, in integer and floating
registers; with arguments that are only handed through; with ways on which
they do not return, straight to abort() or through others; leaves that change
few registers, so that callers keep values in the others (-fipa-ra); calls by
name, by pointer, from the other file, as last thing (tail calls); with
clang's preserve_most and preserve_all, and AArch64's vector calls. A program
prints a sum over all that its procedures returned.
"""
import os
import random
import sys

HEAD = r"""
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long u64;
struct two { u64 a, b; };
struct mix { u64 a; double b; };
#if defined(__clang__) && defined(__x86_64__)
#define ALL __attribute__((preserve_all))
#else
#define ALL
#endif
#if defined(__clang__)
#define MOST __attribute__((preserve_most))
#else
#define MOST
#endif
/* x86-64: up to LLVM 16 even the register of the result is preserved */
#if defined(__x86_64__)
#define ALL_BUT_RESULT
#define MOST_BUT_RESULT
#else
#define ALL_BUT_RESULT ALL
#define MOST_BUT_RESULT MOST
#endif
#if defined(__aarch64__)
#define VECTOR __attribute__((aarch64_vector_pcs))
#else
#define VECTOR
#endif
#define LOOP(x, n) __extension__({ u64 z = (x); \
	while (z & 8 << n) z = z >> n ^ n; z; })
#define OUT __attribute__((noinline))
#define COLD __attribute__((noinline, noreturn, cold))
"""

# how a procedure gives its result, and how it is made a number
RESULTS = {
    "u64": ("u64", "%s"),
    "two": ("struct two", "(t2 = %s, t2.a * 3 + t2.b)"),
    "mix": ("struct mix", "(tm = %s, tm.a * 5 + (u64)tm.b)"),
    "double": ("double", "(u64)%s"),
    "void": ("void", "(%s, *q)"),
}


class Function:
    def __init__(self, rng, number, other):
        self.name = ("o%d" if other else "f%d") % number
        self.other = other
        self.result = rng.choice(["u64", "u64", "two", "two", "mix",
                                  "double", "void"])
        self.nlong = rng.randrange(1, 7)
        self.ndouble = rng.choice([0, 0, 0, 1, 3])
        self.attribute = ""
        # both of a pair of files see the declaration, so that both know
        if rng.random() < .15 and self.result in ("void", "u64"):
            self.attribute = rng.choice(["MOST", "MOST", "ALL"])
            if self.result != "void":
                self.attribute += "_BUT_RESULT"
        elif rng.random() < .08:
            self.attribute = "VECTOR"
        # a second one by the same name may not be meant: fixed linkage
        self.static = not other and rng.random() < .7

    def head(self):
        args = (["u64 *q"] + ["u64 a%d" % i for i in range(self.nlong)] +
                ["double d%d" % i for i in range(self.ndouble)])
        return "%s%s OUT %s %s(%s)" % (
            "static " if self.static else "", self.attribute,
            RESULTS[self.result][0], self.name, ", ".join(args))

    def call(self, longs, doubles):
        return "%s(%s)" % (self.name, ", ".join(["q"] + longs + doubles))


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        r = self.rng
        self.functions = []
        self.text = {False: [], True: []}
        for other in (True, False):
            for i in range(r.randrange(4, 9) if other else r.randrange(8, 16)):
                f = Function(r, i, other)
                self.text[other].append(self.body(f))
                self.functions.append(f)

    def number(self, f, local=()):
        """an expression of integers"""
        r = self.rng
        names = ["a%d" % i for i in range(f.nlong)] + list(local)
        x = r.choice(names + ["*q"])
        for _ in range(r.randrange(0, 3)):
            x = "(%s %s %s)" % (x, r.choice("+-*^|&"),
                                r.choice(names + [str(r.randrange(1, 99))]))
        if r.random() < .1:
            x = "(%s >> %d)" % (x, r.randrange(1, 9))
        return x

    def real(self, f):
        names = ["d%d" % i for i in range(f.ndouble)] + ["1.5"]
        return self.rng.choice(names)

    def call(self, f, callee, local=()):
        """a call of one that is there already, as an expression"""
        r = self.rng
        longs = []
        for i in range(callee.nlong):
            # handed through where it came, as often as not; or there before
            # a loop
            if i < f.nlong and r.random() < .4:
                longs.append("a%d" % i)
            elif r.random() < .3:
                longs.append("LOOP(%s, %d)" % (self.number(f, local),
                                               r.randrange(2, 7)))
            else:
                longs.append(self.number(f, local))
        return callee.call(longs, [self.real(f) for _ in range(
            callee.ndouble)])

    def callees(self, f):
        return [g for g in self.functions if g.other or not f.other]

    def as_number(self, f, local=()):
        """what a call returns, as a number; by pointer sometimes"""
        callee = self.rng.choice(self.callees(f))
        x = self.call(f, callee, local)
        if self.rng.random() < .15:
            x = "hide(&%s)%s" % (callee.name, x[len(callee.name):])
            x = "((__typeof__(&%s))%s" % (callee.name, x.replace(
                "hide(&%s)" % callee.name, "hide((void *)&%s))"
                % callee.name, 1))
        return RESULTS[callee.result][1] % x

    def statement(self, f, local):
        r = self.rng
        kind = r.random()
        if kind < .2:
            # never, as far as anybody can tell at run time
            return "if (%s == %d) die%d(\"bad\", %s);" % (
                self.number(f, local), r.randrange(1 << 40, 1 << 62),
                r.randrange(3), self.number(f, local))
        if kind < .3:
            return "if (*q > ~0ul - 9) %s(q, %s);" % (
                r.choice(["fail", "fail_far"]), self.number(f, local))
        if kind < .6 and self.callees(f):
            var = "v%d" % len(local)
            text = "u64 %s = %s;" % (var, self.as_number(f, local))
            local.append(var)
            return text
        if kind < .75 and self.callees(f):
            return "if (%s & 4) *q += %s;" % (self.number(f, local),
                                              self.as_number(f, local))
        if kind < .85:
            return "while (%s & 1) { *q = *q >> 1 ^ %d; if (!(*q & 6)) " \
                   "break; }" % ("*q", r.randrange(64))
        return "*q = *q * 7 + %s;" % self.number(f, local)

    def finish(self, f, local):
        r = self.rng
        number = lambda: self.number(f, local)
        same = [g for g in self.callees(f) if g.result == f.result and
                g.attribute == f.attribute]
        if same and r.random() < .35:
            # a tail call
            call = self.call(f, r.choice(same), local)
            return "%s%s;" % ("return " if f.result != "void" else "", call)
        through = r.choice(["a%d" % i for i in range(f.nlong)])
        if r.random() < .5:
            through = "a0"
        if f.result == "u64":
            return "return %s;" % number()
        if f.result == "two":
            return "return (struct two){%s, %s};" % (number(), through)
        if f.result == "mix":
            return "return (struct mix){%s, %s};" % (
                through, "d0" if f.ndouble else "(double)(%s & 1023)"
                % number())
        if f.result == "double":
            return "return %s + (double)(%s & 4095);" % (self.real(f),
                                                         number())
        return "*q ^= %s;" % number()

    def body(self, f):
        local = []
        lines = [f.head(), "{", "\tstruct two t2; struct mix tm;",
                 "\t(void)t2, (void)tm;"]
        for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3, 5])):
            lines.append("\t" + self.statement(f, local))
        lines += ["\t" + self.finish(f, local), "}"]
        return "\n".join(lines)

    def declarations(self):
        return "\n".join(f.head() + ";" for f in self.functions
                         if f.other) + """
void *hide(void *p);
void fail_far(u64 *q, u64 a) __attribute__((noreturn));
"""

    def main(self):
        r = self.rng
        calls = []
        for f in self.functions:
            longs = ["i * %d" % r.randrange(1, 9) for _ in range(f.nlong)]
            reals = ["i * .25" for _ in range(f.ndouble)]
            calls.append("\t\ts = s * 31 + %s; s ^= *q; *q &= 0xfffffff;" % (
                RESULTS[f.result][1] % f.call(longs, reals)))
        cold = "\n".join("""COLD static void die%d(const char *f, u64 a)
{ fprintf(stderr, "%%s %%lu\\n", f, a + %d); %s; }""" % (
            i, i, ("abort()", "exit(3)", "for (;;) puts(f)")[i])
            for i in range(3))
        return "\n".join([
            HEAD, self.declarations(), cold,
            "COLD static void fail(u64 *q, u64 a) { die1(\"f\", *q + a); }",
            *self.text[False],
            "int main(void)", "{",
            "\tu64 s = 0, n = 3, *q = &n; struct two t2; struct mix tm;",
            "\tfor (u64 i = 0; i < 24; i++) {", *calls, "\t}",
            "\tprintf(\"%lu %lu\\n\", s, n);", "\treturn 0;", "}", ""])

    def other(self):
        cold = "\n".join("""COLD static void die%d(const char *f, u64 a)
{ printf("%%s %%lu\\n", f, a + %d); abort(); }""" % (i, i) for i in range(3))
        return "\n".join([
            HEAD, self.declarations(), cold,
            "void *hide(void *p) { return p; }",
            "void fail_far(u64 *q, u64 a) { die1(\"x\", *q + a); }",
            "COLD static void fail(u64 *q, u64 a) { die2(\"g\", *q + a); }",
            *self.text[True], ""])


def write(seed, folder):
    p = Program(seed)
    for name, text in (("main.c", p.main()), ("other.c", p.other())):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)


if __name__ == "__main__":
    write(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ".")
