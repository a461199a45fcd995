#!/bin/sh
# cfg: `tally cfg` over every ELF file of this machine and over the programs
# and libraries of foreign Debian packages.
#
#	tests/sweep/cfg.sh [DIRECTORY...]
#
# No crash, no hang, no status but 0 (or 3, with a message, for what is not a
# program or library of our two machines). Prints what share of the code is
# understood, what is not, and what is slow. ROWS=FILE keeps one line of
# figures per file, and continues from there; SKIP=PATH leaves one out. tests/lib/cfg_sweep.py does the work.

here=$(cd "$(dirname "$0")" && pwd)
tally=${BUILD:-build}/tally
packages="
bash coreutils findutils gawk grep gzip bzip2 mawk sed tar xz-utils zstd
libc6 libgcc-s1 libstdc++6 libatomic1 libgfortran5 zlib1g libbz2-1.0 liblzma5
libzstd1 libgmp10 libsqlite3-0 sqlite3 lua5.4 liblua5.4-0
perl-base libperl5.36 python3.11-minimal libpython3.11 libnode108
openssl libssl3 libgcrypt20 libgnutls30 libnettle8 libhogweed6
libx264-164 libx265-199 libavcodec59 libdav1d6 libvpx7 libasound2
librsvg2-2 libicu72 libllvm14 cpp-12 gdb git qemu-user libz3-4
libopenblas0-pthread libblas3 liblapack3 libgsl27 libfftw3-double3
"

. "$here/../lib/packages.sh"

case $(uname -m) in
aarch64) foreign=amd64 ;;
*) foreign=arm64 ;;
esac
if [ $# -eq 0 ]; then
	packages_fetch $foreign $packages ||
		echo "# some packages are missing; going on with the others"
	# of $HOME only toolchains: the rest is nobody's business
	set -- /usr /lib /opt "$HOME/.rustup" "$HOME/.cargo" \
		"$HOME/.pyenv" "$(packages_root $foreign)"
fi
exec nice -n 10 python3 "$here/../lib/cfg_sweep.py" "$tally" \
	${ROWS:+--rows "$ROWS"} ${SKIP:+--skip "$SKIP"} "$@"
