"""
rest: what `make check` leaves out, as each has neighbours there that fail with
it nearly always. tests/sweep/rest.sh runs every test that imports this, with
TALLY_TEST_ALL=1: then nothing is left out.
"""
import os

ALL = os.environ.get("TALLY_TEST_ALL") == "1"


def with_rest(most, rest):
    """A list, and what is in the sweep only."""
    return [*most, *rest] if ALL else list(most)
