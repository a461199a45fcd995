# suites.sh: how the packages of tests/sweep/suites.sh are built and tested.
#
# Source this file; $machine says for which one. Of each package NAME there are two functions, which run in
# the top folder of its source (- and . in the name become _):
#
#	build_NAME	builds it for the machine, and all that its tests run
#	check_NAME	runs its tests, and prints "TEST RESULT" lines
#
# differs_NAME_WAY lists tests that end otherwise in a way, for a reason.
#
# The packages are those that have most to say to a rewriter: interpreters,
# hand-written assembler, code that is made at run time, C++ exceptions, and
# thousands of tests.

SUITES="sqlite3 pcre2 bash gawk nettle expat xz-utils zlib libjsoncpp"
host=$machine-linux-gnu
case $machine in
aarch64) debian=arm64 ;;
*) debian=amd64 ;;
esac

# configure OPTION...: GNU configure for the machine
configure()
{
	./configure --host=$host \
		--build="$(gcc -dumpmachine)" CFLAGS='-g -O2' "$@"
}

# automake_check [VARIABLE=VALUE]: the tests of an automake package, by what
# they leave behind
automake_check()
{
	make -k check "$@" >&2
	grep -r --include='*.trs' '^:test-result:' . |
		sed 's/^\.\/\(.*\)\.trs::test-result:/\1/'
}

# verdict NAME STATUS: one line of results
verdict()
{
	[ "$2" -eq 0 ] && echo "$1 PASS" || echo "$1 FAIL.$2"
}

# lines NAME COMMAND...: every line that a command prints is a test
lines()
{
	lines_name=$1
	shift
	"$@" >lines.out 2>&1
	verdict "$lines_name" $?
	awk -v n="$lines_name" '{
		gsub(/[ \t]+/, "_"); print n "." NR ":" $0, "ok" }' lines.out
}

build_zlib()
{
	CHOST=$host ./configure && make -j2 all infcover
}

# its own test, and some levels and strategies over its sources
check_zlib()
{
	export LD_LIBRARY_PATH=$PWD
	for p in example examplesh example64 infcover; do
		lines $p ./$p
	done
	for option in -1 -3 -6 -9 -f -h -r; do
		for f in *.c; do
			./minigzipsh $option <"$f" >packed &&
				./minigzipsh -d <packed | cmp -s - "$f"
			status=$? sum=$(cksum <packed | tr ' ' .)
			verdict "minigzip.$option.$f.$sum" $status
		done
	done
}

build_xz_utils()
{
	configure --disable-doc && make -j2 && make -j2 check TESTS=
}

check_xz_utils()
{
	automake_check
	for f in tests/files/*.xz tests/files/*.lz*; do
		src/xz/xz -dc "$f" >out 2>/dev/null
		echo "$f.$?.$(cksum <out | tr ' ' .) ok"
	done
}

build_expat()
{
	cd expat && autoreconf -fi && configure --without-docbook &&
		make -j2 && make -j2 check TESTS=
}

check_expat()
{
	cd expat/tests || return
	for p in runtests runtestspp; do
		./$p -v >$p.out 2>&1
		verdict $p $?
		sed -n "s/^\(PASS\|FAIL\)[: ]*\(.*\)/$p.\2 \1/p" $p.out |
			tr -s ' '
	done
}

# its make has no goal for the tests alone: here they are run by true
build_nettle()
{
	configure --disable-public-key --enable-fat --disable-openssl \
		--disable-documentation && make -j2 || return
	make -j2 -C testsuite check EMULATOR=true
	[ -x testsuite/yarrow-test ]
}

check_nettle()
{
	make -k -C testsuite check 2>&1 | tee /dev/stderr |
		sed -n 's/^\(PASS\|FAIL\|SKIP\): \(.*\)/\2 \1/p'
}

build_pcre2()
{
	configure --enable-jit --enable-pcre2-16 --enable-pcre2-32 \
		--disable-static && make -j2 && make -j2 check TESTS=
}

# RunTest tells of every input, word width and way of matching; RunGrepTest
# compares what two processes write in either order
check_pcre2()
{
	automake_check TESTS='pcre2posix_test pcre2_jit_test RunTest'
	for log in RunTest.log pcre2_jit_test.log pcre2posix_test.log; do
		lines $log cat $log
	done
}

# Debian leaves out the manual, and the examples made from it
build_gawk()
{
	configure --disable-mpfr --without-readline &&
		make -j2 -C support && make -j2 gawk && make -j2 -C extension
}

# gawk is a child of tally, not the process that the shell became; and it
# executes itself again by its name, which is not the script that runs tally
differs_gawk_counted="pid dbugeval4"

# a test that fails leaves its output in a file _NAME; two depend on which of
# two processes writes first
check_gawk()
{
	make -k -C test check >said 2>said.too
	cat said said.too >&2
	grep -E '^[a-z][-a-z0-9_]*$' said | grep -v '^clos1way[26]$' |
		sort -u | while read -r t; do
		[ -e "test/_$t" ] && echo "$t FAIL" || echo "$t PASS"
	done
}

build_bash()
{
	configure --without-bash-malloc && make -j2 &&
		make recho zecho printenv xcase &&
		cp recho zecho printenv xcase tests
}

# each script compares what the shell prints with what is right; numbers of
# processes and what depends on the second differ from run to run
check_bash()
{
	cd tests || return
	unset BASH_ENV ENV POSIXLY_CORRECT
	export THIS_SH=$PWD/../bash BUILD_DIR=${PWD%/*} TMPDIR=$PWD/tmp
	export BASH_TSTOUT=$TMPDIR/out PATH=$PWD:$PATH
	mkdir tmp
	for t in run-*; do
		case $t in
		run-all|run-minimal|run-gprof) continue ;;
		run-ifs-posix) continue ;; # 6856 processes
		esac
		timeout -k 5 600 sh ./$t >tmp/diff 2>&1
		sed '/^warning:/d; /^[0-9,]*[acd][0-9,]*$/d
			/possible mismatch/,$d; s/ *[0-9]\{4,\}/ N/g' \
			tmp/diff >tmp/wrong
		if [ -s tmp/wrong ]; then
			sed "s/^/$t: /" tmp/wrong >&2
			echo "$t FAIL.$(cksum <tmp/wrong | tr ' ' .)"
		else
			echo "$t PASS"
		fi
	done
}

build_libjsoncpp()
{
	mkdir out && cd out &&
		$host-g++ -g -O2 -fPIC -shared -I../include -o libjsoncpp.so \
			../src/lib_json/*.cpp &&
		$host-g++ -g -O2 -I../include -o jsoncpp_test \
			../src/test_lib_json/*.cpp -L. -ljsoncpp &&
		$host-g++ -g -O2 -I../include -o jsontestrunner \
			../src/jsontestrunner/main.cpp -L. -ljsoncpp
}

check_libjsoncpp()
{
	export LD_LIBRARY_PATH=$PWD/out
	out/jsoncpp_test 2>&1 |
		sed -n 's/^Testing \([^:]*\): \(.*\)/\1 \2/p'
	lines data python3 test/runjsontests.py out/jsontestrunner test/data
}

# its tests are written in Tcl, whose library comes from Debian's package
build_sqlite3()
{
	packages_fetch $debian tcl8.6-dev libtcl8.6 zlib1g || return 1
	root=$(packages_root $debian)
	mkdir deps && cp -L "$root"/usr/lib/$host/libtcl8.6.so.0 deps &&
		cp -L "$root"/lib/$host/libz.so.1 deps &&
		ln -s libtcl8.6.so.0 deps/libtcl8.6.so &&
		ln -s libz.so.1 deps/libz.so &&
		configure --disable-tcl &&
		make CROSS_BUILDING=yes testfixture \
			TCC="$host-gcc -g -O2 -I. -Isrc -Iext/rtree -Iext/icu \
			-Iext/fts3 -Iext/async -Iext/session -Iext/userauth \
			-I$root/usr/include/tcl8.6" \
			LIBTCL="-L$PWD/deps -ltcl8.6 -lz -lm -ldl -lpthread"
}

# the tests of some parts: all would take hours
check_sqlite3()
{
	export LD_LIBRARY_PATH=$PWD/deps TCL_LIBRARY
	TCL_LIBRARY=$(packages_root $debian)/usr/share/tcltk/tcl8.6
	mkdir run && cd run || return
	for t in ../test/{select,join,trigger,window,rowvalue,with}[1-9].test \
			../test/{cast,date,expr,func,json101,printf}.test \
			../test/{delete,insert,like,minmax,nan,update}.test; do
		timeout 900 ../testfixture "$t" 2>&1 | tee /dev/stderr |
			sed -n "s|^\([^ ]*\)\.\.\. Ok$|${t##*/}.\1 ok|p
			s|^! \([^ ]*\) expected.*|${t##*/}.\1 FAIL|p"
	done
}
