#!/bin/sh
# launch/watched: with --trace-kill a program runs as launch/run.t says; only
# that a tracer is there is seen by who looks for one.
COUNT_OPTIONS=--trace-kill exec python3 tests/e2e/launch/run.t
