"""
answers: commands that answer questions about profiles: how tests call them,
and profiles of tests/progs/answers.c to ask them about.
"""
import json
import os
import random
import struct
import subprocess

from cfg_oracle import HOST, TALLY, Tap, compiler, run
from patience import PATIENCE

TALLY = os.path.abspath(TALLY)
MAKE = os.path.join(os.path.dirname(TALLY), "tools/make-profile")
SOURCE = os.path.abspath("tests/progs/answers.c")
MUTANTS = int(os.environ.get("PROFILE_MUTANTS", "150"))


class Asker(Tap):
    """Asks in a folder of its own."""

    def __init__(self, where):
        super().__init__()
        self.where = where

    def path(self, name):
        return os.path.join(self.where, name)

    def tally(self, *words, **more):
        """(status, output, messages)."""
        p = subprocess.run([TALLY, *words], cwd=self.where, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           errors="replace", timeout=PATIENCE, **more)
        return p.returncode, p.stdout, p.stderr

    def parsed(self, *words):
        status, out, err = self.tally(*words)
        return json.loads(out) if out else [status, err]

    def same(self, got, want, name):
        self.ok(got == want, name, ["got: %r" % (got,),
                                    "want: %r" % (want,)])

    def refused(self, status, pattern, *words):
        """A message of one line (usage: perhaps where to read more)."""
        got, out, err = self.tally(*words)
        self.ok(got == status and not out and pattern in err and
                err.startswith("tally") and
                err.count("\n") <= (2 if status == 2 else 1),
                "refused: " + " ".join(words), ["status %d" % got, out, err])

    def make(self, name, *words):
        """A profile that was worked out by hand."""
        os.makedirs(self.path(name), exist_ok=True)
        subprocess.run([MAKE, self.path(name), *words], check=True)
        return name + "/profile"

    def build(self, name, *flags):
        run(*compiler(HOST, "gcc"), "-O1", "-g", *flags, "-o",
            self.path(name), SOURCE)

    def count(self, profile, program, *words, options=()):
        run(TALLY, "count", "--libs", "none", *options, "-o", profile,
            "./" + program, *words, cwd=self.where,
            env={**os.environ, "XDG_CACHE_HOME": self.where})
        return profile

    def mutants(self, profile, say, *statuses):
        """
        Damaged profiles do no harm: say(victim) are words of a command, and
        its status is one of those given, or 3 with one line that says why.
        """
        data, bad = open(self.path(profile), "rb").read(), []
        rng = random.Random(7)
        for i in range(MUTANTS // 10):
            b = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(min(len(b), 400))
                b[at] = rng.getrandbits(8)
            cut = rng.choice((len(b), len(b), rng.randrange(len(b))))
            with open(self.path("victim"), "wb") as f:
                f.write(bytes(b[:cut]))
            status, out, err = self.tally(*say("victim"))
            if status not in (*statuses, 3) or \
                    (status == 3 and err.count("\n") != 1):
                bad.append("mutant %d: status %d %s" % (i, status, err))
        self.none(bad, "%d mutants do no harm" % (MUTANTS // 10))
