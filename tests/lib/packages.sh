# packages.sh: Debian packages of any architecture, as test material.
#
# Source this file from a test script. Packages are downloaded with a private
# apt state, so the host's package lists, architectures and installed packages
# are neither used nor changed; only the host's own sources and keys are. The
# files land in one tree per architecture, which also serves as a sysroot:
#
#	$PACKAGES_CACHE/ARCH/apt/      private lists and configuration
#	$PACKAGES_CACHE/ARCH/done/     one empty file per unpacked package
#	$PACKAGES_CACHE/ARCH/root/     what the packages contain
#	$PACKAGES_CACHE/sources/apt/   the same state, for source packages
#
# Dependencies are not followed and no maintainer script runs: the caller
# names every package that it wants.

# this machine and the other one, as compilers and qemu name them and as Debian
case $(uname -m) in
aarch64) this_isa=aarch64 other_isa=x86_64 other_arch=amd64 ;;
*) this_isa=x86_64 other_isa=aarch64 other_arch=arm64 ;;
esac

PACKAGES_CACHE=${PACKAGES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tally-tests}

# programs and libraries of many kinds, by many compilers and hands
PACKAGES_MIX="
bash coreutils findutils gawk grep gzip bzip2 mawk sed tar xz-utils zstd
libc6 libgcc-s1 libstdc++6 libatomic1 libgfortran5 zlib1g libbz2-1.0 liblzma5
libzstd1 libgmp10 libsqlite3-0 sqlite3 lua5.4 liblua5.4-0 minisat
perl-base libperl5.36 python3.11-minimal libpython3.11 libnode108
openssl libssl3 libgcrypt20 libgnutls30 libnettle8 libhogweed6
libx264-164 libx265-199 libavcodec59 libdav1d6 libvpx7 libasound2
librsvg2-2 libicu72 libllvm14 cpp-12 gdb git qemu-user libz3-4
libopenblas0-pthread libblas3 liblapack3 libgsl27 libfftw3-double3
"

# packages_root ARCH: print the folder that ARCH's packages are unpacked into
packages_root()
{
	echo "$PACKAGES_CACHE/$1/root"
}

# packages_apt ARCH COMMAND...: apt-get on ARCH's private state
packages_apt()
{
	packages_conf=$PACKAGES_CACHE/$1/apt/apt.conf
	shift
	APT_CONFIG=$packages_conf apt-get -qq "$@"
}

# packages_init ARCH [FOLDER]: make ARCH's private apt state (in the FOLDER of
# that name); lists last for a day
packages_init()
{
	packages_dir=$PACKAGES_CACHE/${2:-$1}
	mkdir -p "$packages_dir/apt/lists/partial" "$packages_dir/done" \
		"$packages_dir/apt/archives/partial" "$packages_dir/root" ||
		return 1
	: >"$packages_dir/apt/status"
	cat >"$packages_dir/apt/apt.conf" <<-CONF
	#clear APT::Architectures;
	APT::Architecture "$1";
	APT::Architectures { "$1"; };
	APT::Sandbox::User "";
	Acquire::Languages "none";
	Dir::State "$packages_dir/apt";
	Dir::State::lists "$packages_dir/apt/lists";
	Dir::State::status "$packages_dir/apt/status";
	Dir::Cache "$packages_dir/apt";
	Dir::Cache::archives "$packages_dir/apt/archives";
	CONF
	[ -z "${2:-}" ] || packages_deb_src
	if [ -z "$(find "$packages_dir/apt/fresh" -mtime -1 2>/dev/null)" ]
	then
		packages_apt "${2:-$1}" update && : >"$packages_dir/apt/fresh"
	fi
}

# packages_deb_src: the state that is being made has the sources of the host's
# Debian release, and nothing else (the archive of security updates names files
# that are only in the release's)
packages_deb_src()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' | sort -u |
		sed '/-security /d; s/^/deb-src /' >"$packages_dir/apt/sources.list"
	cat >>"$packages_dir/apt/apt.conf" <<-CONF
	Dir::Etc::sourcelist "$packages_dir/apt/sources.list";
	Dir::Etc::sourceparts "-";
	CONF
}

# packages_source PACKAGE FOLDER: the patched source of a package as FOLDER
packages_source()
{
	packages_init "$(dpkg --print-architecture)" sources || return 1
	packages_tmp=$(mktemp -d "$PACKAGES_CACHE/sources/new.XXXXXX") ||
		return 1
	(cd "$packages_tmp" && packages_apt sources source "$1" >log 2>&1) &&
		mv "$packages_tmp"/*/ "$2" || cat "$packages_tmp/log" >&2
	packages_status=$?
	rm -rf "$packages_tmp"
	[ -d "$2" ]
}

# packages_unpack ARCH PACKAGE: download one package and unpack it
packages_unpack()
{
	packages_dir=$PACKAGES_CACHE/$1
	packages_tmp=$(mktemp -d "$packages_dir/new.XXXXXX") || return 1
	(cd "$packages_tmp" && packages_apt "$1" download "$2") &&
		dpkg-deb -x "$packages_tmp"/*.deb "$packages_dir/root" &&
		: >"$packages_dir/done/$2"
	packages_status=$?
	rm -rf "$packages_tmp"
	return $packages_status
}

# packages_have ARCH PACKAGE...: are they all unpacked?
packages_have()
{
	packages_done=$PACKAGES_CACHE/$1/done
	shift
	for packages_name; do
		[ -e "$packages_done/$packages_name" ] || return 1
	done
}

# packages_fetch ARCH PACKAGE...: unpack what is not there yet; 1 if any fails
#
# Tests run side by side: one of them fetches, the others wait for it.
packages_fetch()
{
	packages_have "$@" && return
	mkdir -p "$PACKAGES_CACHE/$1" || return 1
	(flock 9 && packages_fetch_missing "$@") 9>"$PACKAGES_CACHE/$1/lock"
}

# packages_fetch_missing ARCH PACKAGE...: packages_fetch, holding the lock
packages_fetch_missing()
{
	packages_arch=$1
	packages_failed=0
	packages_ready=
	shift
	for packages_name; do
		[ -e "$PACKAGES_CACHE/$packages_arch/done/$packages_name" ] &&
			continue
		if [ -z "$packages_ready" ]; then
			packages_init "$packages_arch" || return 1
			packages_ready=yes
		fi
		if ! packages_unpack "$packages_arch" "$packages_name"; then
			echo "# cannot fetch $packages_name:$packages_arch" >&2
			packages_failed=1
		fi
	done
	packages_relink "$(packages_root "$packages_arch")"
	return $packages_failed
}

# packages_relink ROOT: links to places of a machine lead to those in the tree:
# the loader of x86-64 is one
packages_relink()
{
	find "$1" -type l -lname '/*' | while read -r packages_link; do
		packages_to=$1$(readlink "$packages_link")
		[ ! -e "$packages_to" ] ||
			ln -sfnr "$packages_to" "$packages_link"
	done
}
