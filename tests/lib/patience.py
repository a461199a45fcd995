"""
patience: no test may depend on how fast or how busy a machine is. A test that
waits for something waits until it is there, and one that needs samples goes on
until it has them; what takes longer than PATIENCE is taken to hang. Bounds on
numbers of samples are those of chance, for the number that was taken.

TALLY_TEST_WORK scales what sampled programs do at a time (also see
tests/progs/sample/effort.h): `make check-load` shows that tests pass with a
quarter of it and with four times as much.
"""
import math
import os
import time

PATIENCE = 900  # seconds; only what is broken waits for so long
WORK = float(os.environ.get("TALLY_TEST_WORK", "1"))
# six deviations: one run in a billion is that far off
DEVIATIONS = 6


def work(n):
    """n, scaled by TALLY_TEST_WORK; at least 1."""
    return max(1, round(n * WORK))


def until(enough, pause=0.2):
    """Calls enough() until it is true, and returns what it returned."""
    end = time.monotonic() + PATIENCE
    while True:
        got = enough()
        if got or time.monotonic() > end:
            return got
        time.sleep(pause)


def chance(n, share, cluster=1):
    """How far from its share of n samples a number may be by chance. Samples
    come in clusters of dependent ones: n / cluster of them are independent."""
    return DEVIATIONS * math.sqrt(n * share * (1 - share) * cluster)


def is_share(part, n, share, lost=0):
    """Whether part of n samples may be that share of them, by chance; others
    were lost, perhaps all of the same part."""
    return n > 0 and abs(part - share * n) <= chance(n, share) + lost
