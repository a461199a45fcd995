#!/usr/bin/env python3
"""profiles: what all profiles of a folder tell together.

    profiles.py TALLY FOLDER

Each has to be readable and to tell of instructions that ran. Prints how many
there are, the instructions, what was said of them, and those that cannot be
read; status 1 if there is one, or none at all.
"""
import collections
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def read(tally, path):
    """(instructions, what is said of it, why it cannot be read)"""
    p = subprocess.run([tally, "report", "--by", "image", "--json", path],
                       capture_output=True, text=True)
    if p.returncode:
        return 0, [], p.stderr.strip()
    rows = json.loads(p.stdout)
    n = sum(r["instructions"] or 0 for r in rows)
    said = {t for r in rows for t in r["troubles"]}
    said |= {"counts of some procedures are not known" for r in rows
             if not r["complete"]}
    return n, said, "" if n else "nothing ran"


def main():
    tally, folder = sys.argv[1:]
    paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    troubles, bad, executed = collections.Counter(), 0, 0
    with ThreadPoolExecutor(2) as pool:
        for path, (n, said, why) in zip(paths, pool.map(
                lambda p: read(tally, p), paths)):
            executed += n
            troubles.update(said)
            if why:
                bad += 1
                print("%s: %s" % (path, why))
    print("%d profiles, %d instructions" % (len(paths), executed))
    for text, n in troubles.most_common():
        print("  %d: %s" % (n, text))
    return bad > 0 or not paths


if __name__ == "__main__":
    sys.exit(main())
