#!/bin/bash
# queries: tally query, asked a million times, never says a number that was not
# the exact count of that thread at some moment during the question.
#
#	tests/sweep/queries.sh [TIMES [NAME...]]
#
# TIMES are shared out among programs; NAME: this one alone, with its share.
# tests/lib/query_sweep.py does the work, and says what is compared. Some minutes
# if two cores have nothing else to do.

. "$(dirname "$0")/../lib/sweep.sh"

nice -n 10 python3 "$here/../lib/query_sweep.py" "$work" "${1:-1000000}" \
	"${@:2}"
