# tally: GNU make.
#
#   make             build/tally
#   make quickstart  install what is missing, build, show the main job
#   make check       install what tests need, build, run every test
#   make check-fast  every command once and the unit tests, in a minute
#   make check-load  that tests pass on a machine of any speed and load
#   make asan        the same tests with address and UB sanitizers
#   make sweep       the long whole-system checks
#   make lint        what cppcheck finds in src: nothing
#   make fuzz        parsers of strangers' files, by libFuzzer
#   make bench       every performance figure that we claim
#   make skeletons   what is in the kernel's language, by clang and bpftool
#   make man         sections of manual pages, from the tables of options
#   make install     PREFIX and DESTDIR are honoured
#
# For another machine: CC, AR and BUILD, and where its Zydis lies in CFLAGS
# and LDFLAGS; tests/e2e/house/other-machine.t does it.

VERSION := 0.2
CC ?= cc
CLANG ?= clang
BUILD ?= build
PREFIX ?= /usr/local
OPT ?= -O2 -g

ISA := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ROOMS := base flow elf isa cfg rewrite hooks count events trace instrument \
	launch store sample profile report export cmd

WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	-Wvla -Wundef -Wcast-qual -Wsign-conversion -Werror

# the header that bpftool has written is not ours to mend: see `skeletons`
CFLAGS_ALL := -std=gnu11 $(WARNINGS) -D_GNU_SOURCE \
	-DTALLY_VERSION='"$(VERSION)"' -Isrc -Isrc/runtime/$(ISA) \
	-isystem src/sample/bpf $(OPT) $(SANITIZE) $(CFLAGS)
LDLIBS_ALL := -ldw -lelf -liberty -lZydis -lsqlite3 -lzstd -lbpf -lz -lpthread -lm $(LDLIBS)

# what the kernel runs (*.bpf.c) is kept as clang has made it, see below
SRCS := $(filter-out %.bpf.c,$(foreach r,$(ROOMS),\
	$(wildcard src/$(r)/*.c src/$(r)/*/*.c src/$(r)/*/*/*.c))) src/runtime/places.c
OBJS := $(SRCS:src/%.c=$(BUILD)/%.o)
# everything but main() is one library, for tests and benches
LIB := $(BUILD)/libtally.a
MAIN := $(BUILD)/cmd/main.o

# tests/unit/ROOM/*.c: one cmocka program each; bench/*.c and tests/tools/*.c:
# helpers that scripts run
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*/*.c))
TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/tools/*.c))
BENCH := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))

.PHONY: all tools units programs deps test-deps quickstart check check-fast \
	check-load test asan sweep bench fuzz lint man install clean 80
all: $(BUILD)/tally modules client replay
tools: all $(TOOLS)
units: all $(UNIT)
programs: tools units $(BENCH)

$(BUILD)/tally: $(MAIN) $(LIB)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LDLIBS_ALL)

$(LIB): $(filter-out $(MAIN),$(OBJS))
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# what says the version
$(patsubst src/%.c,$(BUILD)/%.o,$(shell grep -rl --include='*.c' \
	TALLY_VERSION src)): Makefile
# the files that are inside
$(BUILD)/cmd/render/page.o: $(wildcard src/cmd/render/page_*.*s)
$(BUILD)/cmd/render/graph_html.o: src/cmd/render/graph_page.html
$(BUILD)/cmd/render/flame_svg.o: src/cmd/render/flame_page.html
$(BUILD)/cmd/completion.o: $(wildcard src/cmd/completion.*sh)

# --- the audit module, which travels inside programs: one for the machine that
# CC makes programs for and, where its cross compiler is installed, one for the
# other. Freestanding, linked with nothing.

OTHER_ISA := $(if $(filter x86_64,$(ISA)),aarch64,x86_64)
OTHER_CC ?= $(OTHER_ISA)-linux-gnu-gcc
# what programs without the module need beside what is in both
ENTRY_ONLY := $(addprefix src/runtime/,entry.c by_hand.c ancestors.c \
	rebind.c) \
	$(wildcard src/runtime/interpose*.c)
ENTRY := $(ENTRY_ONLY) $(addprefix src/runtime/,own_file.c follow.c program.c \
	stack.c environ.c sys.c counting.c live_profile.c images.c \
	threads.c slots.c sites.c forks.c trim.c lock.c signals.c pairs.c \
	places.c exits.c interruptions.c running.c trace.c trace_ring.c \
	trace_state.c calls.c calls_stack.c calls_records.c calls_signals.c calls_forks.c client.c \
	signal_context.c altstack.c)
RUNTIME := $(filter-out $(ENTRY_ONLY),$(wildcard src/runtime/*.c))
MODULE_FLAGS := -std=gnu11 $(WARNINGS) -O2 -g -Isrc \
	-fPIC -ffreestanding -fvisibility=hidden -fno-stack-protector \
	-mgeneral-regs-only \
	-nostdlib -shared -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,defs
# atomic operations are those of runtime/aarch64/atomics.c; Go's handlers of
# signals find their goroutine in x28, whatever they interrupt
FLAGS_aarch64 := -moutline-atomics -ffixed-x28
RUNTIME_aarch64 := src/runtime/aarch64/atomics.c
FLAGS_x86_64 := -mfsgsbase
ISAS := $(ISA)
ifneq ($(shell command -v $(OTHER_CC) 2>/dev/null),)
ISAS += $(OTHER_ISA)
endif
# the entry of programs that load no module: bytes, for machines with hooks;
# few, as each rewritten program has them
ENTRY_FLAGS := $(filter-out -O2 -g -fPIC -shared -Wl%,$(MODULE_FLAGS)) -Os \
	-fPIE -fomit-frame-pointer -ffunction-sections -Wl,--gc-sections \
	-fno-jump-tables -fno-asynchronous-unwind-tables \
	-DRUNTIME_IS_ENTRY -static -Wl,-T,src/runtime/entry.ld \
	-Wl,--build-id=none
ENTRY_FLAGS_aarch64 := -mcmodel=tiny
ENTRIES := $(patsubst src/runtime/%/entry.S,%,$(wildcard src/runtime/*/entry.S))
CALLS_EVENTS := 0 1 2 3 4
TRACED := $(patsubst src/runtime/%/trace.S,%,$(wildcard src/runtime/*/trace.S))
MODULES := $(ISAS:%=$(BUILD)/lib/tally/audit-%.so) \
	$(patsubst %,$(BUILD)/lib/tally/entry-%.bin,$(filter $(ENTRIES),$(ISAS))) \
	$(foreach n,$(CALLS_EVENTS),$(patsubst %,$(BUILD)/lib/tally/calls-%-$(n).bin,\
	$(filter $(ENTRIES),$(ISAS)))) \
	$(patsubst %,$(BUILD)/lib/tally/trace-%.bin,$(filter $(TRACED),$(ISAS)))

.PHONY: modules
modules: $(MODULES)

$(BUILD)/lib/tally/%-$(OTHER_ISA).so $(BUILD)/lib/tally/%-$(OTHER_ISA).bin: \
	MODULE_CC := $(OTHER_CC)
MODULE_CC ?= $(CC)
$(BUILD)/lib/tally/audit-%.so: $(RUNTIME) $(wildcard src/abi/*.h src/runtime/*.h \
		src/runtime/*/*.[ch])
	@mkdir -p $(@D)
	$(MODULE_CC) $(MODULE_FLAGS) $(FLAGS_$*) -Isrc/runtime/$* -o $@ $(RUNTIME) \
		$(RUNTIME_$*)

$(BUILD)/lib/tally/entry-%.bin: $(ENTRY) src/runtime/%/entry.S \
		src/runtime/entry.ld $(wildcard src/abi/*.h src/runtime/*.h \
		src/runtime/*/*.[ch])
	@mkdir -p $(@D)
	$(MODULE_CC) $(ENTRY_FLAGS) $(FLAGS_$*) $(ENTRY_FLAGS_$*) -Isrc/runtime/$* -o $(@:.bin=.elf) \
		src/runtime/$*/entry.S $(ENTRY) $(RUNTIME_$*)
	$$($(MODULE_CC) -print-prog-name=objcopy) -O binary -j .all \
		$(@:.bin=.elf) $@
	@rm $(@:.bin=.elf)

# routines that inserted code calls, in every image that has such code: of call
# sites for some numbers of events, of traces. $(1) the machine, $(2) the file
# without its suffix, $(3) the source, $(4) flags
define ROUTINES_CODE
$$(BUILD)/lib/tally/$(2).bin: src/runtime/$(1)/$(3) $$(wildcard src/abi/*.h \
		src/runtime/$(1)/routines.h)
	@mkdir -p $$(@D)
	$$(if $$(filter $(1),$$(ISA)),$$(CC),$$(OTHER_CC)) -Isrc $(4) -c \
		-o $$(@:.bin=.o) $$<
	$$$$($$(if $$(filter $(1),$$(ISA)),$$(CC),$$(OTHER_CC)) \
		-print-prog-name=objcopy) -O binary -j .text $$(@:.bin=.o) $$@
	@rm $$(@:.bin=.o)
endef
$(foreach i,$(ISAS),$(foreach n,$(CALLS_EVENTS),\
	$(eval $(call ROUTINES_CODE,$(i),calls-$(i)-$(n),calls.S,-DEVENTS=$(n)))))
$(foreach i,$(filter $(TRACED),$(ISAS)),\
	$(eval $(call ROUTINES_CODE,$(i),trace-$(i),trace.S,)))

# --- the client library, which programs are linked with that ask for their own
# counts: it needs nothing, not even a C library. One for the machine that CC
# makes programs for. Its name ends with the version of tally.h

CLIENT := $(BUILD)/client
CLIENT_SO := libtally-client.so.1
CLIENT_FLAGS := -std=c99 -pedantic $(WARNINGS) -O2 -g -Isrc -Isrc/client -fPIC \
	-ffreestanding -fvisibility=hidden -fno-stack-protector
# code that takes part in the protection of jumps, if all of a program does
CLIENT_aarch64 := -mbranch-protection=standard
CLIENT_x86_64 := -fcf-protection

.PHONY: client
client: $(CLIENT)/libtally-client.a $(CLIENT)/$(CLIENT_SO)

$(CLIENT)/client.o: src/client/client.c src/client/tally.h src/abi/client.h
	@mkdir -p $(@D)
	$(CC) $(CLIENT_FLAGS) $(CLIENT_$(ISA)) -c -o $@ $<

$(CLIENT)/libtally-client.a: $(CLIENT)/client.o
	rm -f $@
	$(AR) rcs $@ $^

$(CLIENT)/$(CLIENT_SO): $(CLIENT)/client.o
	$(CC) -shared -nostdlib -Wl,-soname,$(CLIENT_SO) -Wl,-z,noexecstack \
		-Wl,-z,defs -o $@ $^
	ln -sf $(CLIENT_SO) $(CLIENT)/libtally-client.so

# --- the library by which simulators read traces: what of tally that takes, as
# one object, with the names of tally-replay.h alone. Its name ends with the
# version of that file

REPLAY := $(BUILD)/replay
REPLAY_SO := libtally-replay.so.1
REPLAY_SRCS := $(wildcard src/trace/library/*.c src/trace/regenerate/*.c) \
	$(addprefix src/base/,atomic_file.c bit_coder.c compress.c debug.c \
	dict.c err.c file.c mem.c parallel.c) \
	$(addprefix src/flow/,codes.c forest.c graph.c ladder.c regen.c \
	sort.c) src/elf/lookup.c src/elf/pclntab.c src/cfg/discover/piece.c \
	$(addprefix src/cfg/graph/,call_slot.c merge_pieces.c proc.c) \
	$(addprefix src/count/,map/map_graph.c map/map_inside.c \
	map/map_unpack.c) \
	src/rewrite/insert/plt_stubs.c src/rewrite/output/reverse_map.c \
	$(addprefix src/trace/file/,chunk_unpack.c dense_bits.c \
	dense_values.c find_blocks.c image.c trace_file.c unwind_table.c) src/trace/place/graph.c \
	src/trace/slice/slice.c
REPLAY_OBJS := $(REPLAY_SRCS:src/%.c=$(REPLAY)/%.o)
REPLAY_FLAGS = $(filter-out $(SANITIZE),$(CFLAGS_ALL)) -O2 -fPIC \
	-fvisibility=hidden

.PHONY: replay
replay: $(REPLAY)/libtally-replay.a $(REPLAY)/$(REPLAY_SO)

$(REPLAY)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(REPLAY_FLAGS) -MMD -MP -c -o $@ $<

# objects see each other's names, programs only those of the header
$(REPLAY)/all.o: $(REPLAY_OBJS)
	$(CC) -r -nostdlib -o $@.new $^
	$$($(CC) -print-prog-name=objcopy) --wildcard \
		--keep-global-symbol='tally_replay_*' $@.new
	mv $@.new $@

$(REPLAY)/libtally-replay.a: $(REPLAY)/all.o
	rm -f $@
	$(AR) rcs $@ $^

$(REPLAY)/$(REPLAY_SO): $(REPLAY)/all.o
	$(CC) -shared $(LDFLAGS) -Wl,-soname,$(REPLAY_SO) -Wl,-z,noexecstack \
		-Wl,-z,defs -o $@ $^ -lzstd -lpthread
	ln -sf $(REPLAY_SO) $(REPLAY)/libtally-replay.so

# programs that test need not be as fast as what they test, and are compiled in
# half of the time so
TEST_OPT := $(patsubst -O2,-O1,$(OPT))

$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_OPT) -Itests/lib -MMD -MP $(LDFLAGS) \
		-o $@ $< $(LIB) -lcmocka $(LDLIBS_ALL)

$(BUILD)/tools/%: tests/tools/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_OPT) -Itests/lib -MMD -MP $(LDFLAGS) \
		-o $@ $< $(LIB) $(LDLIBS_ALL)

$(BUILD)/bench/%: bench/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests/lib -MMD -MP $(LDFLAGS) \
		-o $@ $< $(LIB) $(LDLIBS_ALL)

-include $(OBJS:.o=.d) $(REPLAY_OBJS:.o=.d) $(UNIT:=.d) $(TOOLS:=.d) $(BENCH:=.d)

# --- the program that the kernel runs, inside of the header that loads it: it is
# kept, so that who builds tally needs no compiler for it; `make skeletons`
# makes it anew. No path of this machine is in it
BPF_FLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Isrc \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch) \
	-fdebug-compilation-dir=.
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= bpftool
SKELETONS ?= src/sample/bpf

.PHONY: skeletons
skeletons:
	@scripts/make-skeleton src/sample/bpf/table.bpf.c \
		$(SKELETONS)/table.skel.h $(CLANG) $(LLVM_STRIP) $(BPFTOOL) \
		$(BPF_FLAGS)

# --- what is needed on a Debian machine

# the machine at hand and the other one
HOST := $(shell uname -m)
CROSS := $(if $(filter x86_64,$(HOST)),aarch64,x86-64)-linux-gnu
CROSS_DEB := $(if $(filter x86_64,$(HOST)),arm64,amd64)
PKGS := gcc make binutils libc6-dev libzydis-dev libzycore-dev libzstd-dev \
	libdw-dev libelf-dev libiberty-dev zlib1g-dev libsqlite3-dev \
	libbpf-dev
# what pictures are drawn with, and what the runtime for programs of the other
# machine is built with
GRAPH_PKGS := graphviz
OTHER_PKGS := gcc-$(CROSS) libc6-dev-$(CROSS_DEB)-cross
TEST_PKGS := $(PKGS) g++ gfortran clang llvm lld rustc libcmocka-dev perl \
	python3 gdb gdb-multiarch $(GRAPH_PKGS) musl-tools libclang-rt-14-dev \
	qemu-user time valgrind lcov groff-base libdebuginfod1 libc6-dbg \
	golang-go ocaml-nox bolt-22 bpftool zsh fish \
	$(OTHER_PKGS) g++-$(CROSS) gfortran-$(CROSS) binutils-$(CROSS)
SWEEP_PKGS := csmith libcsmith-dev dpkg-dev autoconf automake libtool tcl \
	$(if $(filter aarch64,$(HOST)),,qemu-system-arm)
# what counts, too, and what programs for it are built with
BENCH_PKGS := valgrind linux-perf dpkg-dev autoconf automake tcl zlib1g-dev

deps:
	@scripts/install-packages $(PKGS)
test-deps:
	@scripts/install-packages $(TEST_PKGS)

# `make` runs its goals in order here: what is installed first is used next.
# Without the cross compiler all works but programs of the other machine
quickstart: deps
	@scripts/install-packages $(GRAPH_PKGS)
	@scripts/install-packages $(OTHER_PKGS) || \
		echo 'no $(CROSS)-gcc: programs of that machine are not counted'
	@$(MAKE) --no-print-directory all
	@scripts/quickstart $(BUILD)/tally

# what tests need is built on all processors, unless -j says otherwise
CPUS := $(shell nproc)
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(CPUS))
check: test-deps
	@$(MAKE) --no-print-directory $(JOBS) tools units
	@$(MAKE) --no-print-directory test

# what a change is tried with while it is written: of their random cases unit
# tests take a sample
FAST := $(UNIT) tests/e2e/smoke.t tests/e2e/house/house.t
check-fast:
	@$(MAKE) --no-print-directory $(JOBS) tools units
	@TALLY_TEST_GRAPHS=2000 TALLY_TEST_EVERY=331 \
	$(MAKE) --no-print-directory test TESTS='$(FAST)'

# every test there is, as prove sees it; `make check` installs first; the
# longest begin first, so that none is left over at the end (build/times says
# what each took); three for each processor, as some wait for the disk. Who runs
# this in the background ignores signals, which emulators do not hand on
LONG := $(patsubst %,tests/e2e/%.t,house/other-machine sample/daemon \
	house/other-compiler isa/accesses trace/addresses trace/counts \
	trace/paths events/calls rewrite/programs rewrite/links \
	events/totals house/other-machine-units count/go count/exact \
	count/ends launch/load report/export-bolt cfg/links count/by-hand \
	count/calls count/process rewrite/unwind cfg/compilers \
	rewrite/objdump events/client cfg/runs launch/cache \
	rewrite/compilers sample/daemon-strangers rewrite/poison \
	count/oracles report/answers-memory elf/variants \
	report/many-images launch/follow events/query rewrite/counts \
	events/call-costs rewrite/gdb launch/run house/house sample/record \
	count/kept profile/lines cfg/live events/stop rewrite/threads \
	cfg/command cfg/hostile report/strangers) \
	$(patsubst %,$(BUILD)/unit/%,isa/x64_agree count/profile launch/parts \
	store/condense)
E2E := $(wildcard tests/e2e/*.t tests/e2e/*/*.t)
TESTS ?= $(filter-out $(LEFT_OUT),$(LONG) $(filter-out $(LONG),$(E2E) $(UNIT)))
test: all $(UNIT) $(TOOLS)
	@rm -f '$(BUILD)/times'
	@BUILD='$(BUILD)' TALLY_SKIPS='$(abspath $(BUILD))/skips' \
	TALLY_TIMES='$(abspath $(BUILD))/times' CMOCKA_MESSAGE_OUTPUT=TAP \
	PERL5LIB='$(CURDIR)/tests/lib' env --default-signal \
	prove -j$(shell expr 3 \* $(CPUS)) --timer -PTally \
	--exec tests/lib/timed $(TESTS)

# those in which there is a time, a rate or a number of samples
TIMED := $(patsubst %,$(BUILD)/unit/%,launch/watch elf/bounds store/condense \
	sample/jitdump sample/parser count/profile) \
	$(patsubst %,tests/e2e/%.t,sample/daemon sample/record \
	store/databases store/databases-hostile count/ends count/process \
	launch/run launch/watched launch/cache launch/load launch/follow \
	launch/trace-kill rewrite/gdb rewrite/refused cfg/hostile \
	report/answers-hostile)
check-load: test-deps
	@MAKE='$(MAKE)' scripts/check-load \
		$(if $(filter command line,$(origin TESTS)),$(TESTS),$(TIMED))

# to look for leaks takes the sanitizer four seconds per process on AArch64
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	$(if $(filter aarch64,$(shell uname -m)),-DNO_LEAK_CHECK)
# whose tally has no sanitizers
OTHER_BUILDS := $(wildcard tests/e2e/house/other-*.t)
asan: test-deps
	@TALLY_TEST_GRAPHS=5000 CFG_MUTANTS=2000 REWRITE_MUTANTS=4000 \
	PROFILE_MUTANTS=600 \
	$(MAKE) --no-print-directory BUILD=build-asan OPT='-O1 -g' \
	SANITIZE='$(ASAN)' LEFT_OUT='$(OTHER_BUILDS)' test

sweep: test-deps
	@scripts/install-packages $(SWEEP_PKGS)
	@$(MAKE) --no-print-directory all $(TOOLS)
	@BUILD='$(BUILD)' tests/sweep/run

# a peer that is not to be had leaves its column empty
bench: test-deps
	@for p in $(BENCH_PKGS); do scripts/install-packages $$p || true; done
	@$(MAKE) --no-print-directory OPT='-O2 -g' all $(BENCH) $(TOOLS)
	@BUILD='$(BUILD)' bench/run

# what strangers can feed to a daemon and to its readers, a while each
FUZZ_SECONDS ?= 60
# that they are sound C, by CC
.PHONY: fuzz-syntax
fuzz-syntax:
	$(CC) $(CFLAGS_ALL) -Itests/lib -fsyntax-only fuzz/*.c
fuzz: test-deps
	@for f in parse object elf map profile database trace replay; do \
		fuzz/run.sh $$f $(FUZZ_SECONDS) || exit 1; done

# what it says that is not so, and why, is in .cppcheck; of the other machine,
# what depends on it
CPPCHECK ?= cppcheck
LINT_PKGS := cppcheck
LINT = $(CPPCHECK) --quiet --std=c11 --inconclusive --error-exitcode=1 \
	--enable=warning,performance,portability --suppressions-list=.cppcheck \
	-D_GNU_SOURCE -D__GNUC__=12 -DTALLY_VERSION='"$(VERSION)"' -Isrc
lint:
	@scripts/install-packages $(LINT_PKGS)
	@mkdir -p $(BUILD)/lint
	@$(LINT) -D__$(ISA)__ -Isrc/runtime/$(ISA) \
		--cppcheck-build-dir=$(BUILD)/lint $(SRCS) $(RUNTIME) $(ENTRY)
	@$(LINT) -D__$(OTHER_ISA)__ -Isrc/runtime/$(OTHER_ISA) \
		$(RUNTIME) $(ENTRY)

# what is made of the tables of options (src/cmd/options/options.h); TALLY: one that this
# machine runs, if another machine is built for
TALLY ?= $(BUILD)/tally
man: $(BUILD)/tally
	@scripts/make-man $(TALLY) doc/*.1

COMPLETIONS := $(patsubst %,$(BUILD)/completion.%,bash zsh fish)
$(COMPLETIONS): $(BUILD)/completion.%: $(BUILD)/tally
	$(TALLY) completion $* >$@.new
	mv $@.new $@

TO = "$(DESTDIR)$(PREFIX)"
install: all $(COMPLETIONS)
	install -D -m 755 $(BUILD)/tally $(TO)/bin/tally
	for m in $(MODULES); do install -D -m 644 $$m \
		$(TO)/lib/tally/$${m##*/}; done
	for m in doc/*.1 doc/*.3; do install -D -m 644 $$m \
		$(TO)/share/man/man$${m##*.}/$${m##*/}; done
	install -D -m 644 src/client/tally.h $(TO)/include/tally.h
	install -m 644 $(CLIENT)/libtally-client.a $(CLIENT)/$(CLIENT_SO) \
		$(TO)/lib
	ln -sf $(CLIENT_SO) $(TO)/lib/libtally-client.so
	install -m 644 src/trace/library/tally-replay.h \
		$(TO)/include/tally-replay.h
	install -m 644 $(REPLAY)/libtally-replay.a $(REPLAY)/$(REPLAY_SO) \
		$(TO)/lib
	ln -sf $(REPLAY_SO) $(TO)/lib/libtally-replay.so
	install -d $(TO)/lib/pkgconfig
	for l in client/tally-client trace/library/tally-replay; do \
		sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
			src/$$l.pc.in > $(TO)/lib/pkgconfig/$${l##*/}.pc; \
		chmod 644 $(TO)/lib/pkgconfig/$${l##*/}.pc; done
	install -D -m 644 $(BUILD)/completion.bash \
		$(TO)/share/bash-completion/completions/tally
	install -D -m 644 $(BUILD)/completion.zsh \
		$(TO)/share/zsh/site-functions/_tally
	install -D -m 644 $(BUILD)/completion.fish \
		$(TO)/share/fish/vendor_completions.d/tally.fish
	install -d $(TO)/lib/systemd/system
	sed 's|@BIN@|"$(PREFIX)/bin/tally"|' system/tally.service \
		> $(TO)/lib/systemd/system/tally.service
	chmod 644 $(TO)/lib/systemd/system/tally.service

clean:
	rm -rf build build-asan build-fuzz

# lines of code over 80 columns, a tab counting as 8
80:
	@! expand $(SRCS) $(wildcard src/*/*.bpf.c src/*/*/*.bpf.c) \
		$(filter-out %.skel.h,$(wildcard src/*/*.h src/*/*/*.h)) | grep -n '.\{81,\}'
