#!/bin/sh
# cfg: `tally cfg` over every ELF file of this machine and over the programs
# and libraries of foreign Debian packages.
#
#	tests/sweep/cfg.sh [DIRECTORY...]
#
# No crash, no hang, no status but 0 (or 3, with a message, for what is not a
# program or library of our two machines). Prints what share of the code is
# understood, what is not, and what is slow. ROWS=FILE keeps one line of
# figures per file, and continues from there; SKIP=PATH leaves one out.
# tests/lib/cfg_sweep.py does the work.

here=$(cd "$(dirname "$0")" && pwd)
tally=${BUILD:-build}/tally
. "$here/../lib/packages.sh"

if [ $# -eq 0 ]; then
	packages_fetch $other_arch $PACKAGES_MIX ||
		echo "# some packages are missing; going on with the others"
	# of $HOME only toolchains: the rest is nobody's business
	set -- /usr /lib /opt "$HOME/.rustup" "$HOME/.cargo" \
		"$HOME/.pyenv" "$(packages_root $other_arch)"
fi
exec nice -n 10 python3 "$here/../lib/cfg_sweep.py" "$tally" \
	${ROWS:+--rows "$ROWS"} ${SKIP:+--skip "$SKIP"} "$@"
