#!/usr/bin/env python3
"""
databases: how long answers about a year of samples take: 400 epochs, 276,000
runs of samples, 1,500 images (bench/large_database.c). The claims: at most 3 s
for the report by procedure, half a second by epoch, 300 MB. Least of ROUNDS.
"""
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
ROUNDS = int(os.environ.get("ROUNDS", 3))
CLAIMS = {"procedure": (3, 300), "image": (3, 300), "process": (3, 300),
          "event": (0.5, 300), "epoch": (0.5, 300)}


def ask(by, db):
    """(seconds, megabytes)"""
    p = subprocess.run(["/usr/bin/time", "-f", "%e %M",
                        os.path.join(BUILD, "tally"), "report", "--limit",
                        "20", "--by", by, db], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, text=True)
    found = re.search(r"^([0-9.]+) ([0-9]+)$", p.stderr, re.M)
    if p.returncode or not found:
        sys.exit("databases: --by %s: %s" % (by, p.stderr))
    return float(found[1]), int(found[2]) / 1000


with tempfile.TemporaryDirectory() as where:
    db = os.path.join(where, "large.db")
    subprocess.run([os.path.join(BUILD, "bench", "large_database"), db],
                   check=True)
    (file,) = [n for n in os.listdir(db) if n.endswith(".tallydb")]
    print("%.0f MB on disk" % (os.path.getsize(os.path.join(db, file)) / 1e6))
    print("%-10s %8s %8s" % ("by", "seconds", "MB"))
    good = True
    for by, (seconds, megabytes) in CLAIMS.items():
        took = [ask(by, db) for _ in range(ROUNDS)]
        least, most = min(t for t, _ in took), max(m for _, m in took)
        fits = least <= seconds and most <= megabytes
        good &= fits
        print("%-10s %8.2f %8.0f%s" % (by, least, most,
                                       "" if fits else "  (claimed: %g, %g)" %
                                       (seconds, megabytes)))
sys.exit(not good)
