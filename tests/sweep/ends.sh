#!/bin/sh
# ends: programs that end at any moment, as tests/e2e/count/ends.t has them,
# many more times. COUNT_ENDS (20): how often of each kind.
#
#	tests/sweep/ends.sh

cd "$(dirname "$0")/../.." || exit 1
COUNT_ENDS=${COUNT_ENDS:-20} exec tests/e2e/count/ends.t
