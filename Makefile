# tally: GNU make.
#
#   make             build/tally
#   make quickstart  install what is missing, build, show the main job
#   make check       install what tests need, build, run every test
#   make asan        the same tests with address and UB sanitizers
#   make sweep       the long whole-system checks
#   make bench       every performance figure that we claim
#   make install     PREFIX and DESTDIR are honoured

CC ?= cc
CLANG ?= clang
BUILD ?= build
PREFIX ?= /usr/local
OPT ?= -O2 -g

ROOMS := base flow elf isa cfg cmd

CFLAGS_ALL := -std=gnu11 -Wall -Wextra -Wshadow -Werror -D_GNU_SOURCE \
	-Isrc $(OPT) $(SANITIZE) $(CFLAGS)
LDLIBS_ALL := -lZydis -lpthread $(LDLIBS)

SRCS := $(foreach r,$(ROOMS),$(wildcard src/$(r)/*.c src/$(r)/*/*.c))
OBJS := $(SRCS:src/%.c=$(BUILD)/%.o)
# everything but the commands is one library, for tests, benches and fuzzers
LIB := $(BUILD)/libtally.a
LIB_OBJS := $(filter-out $(BUILD)/cmd/%,$(OBJS))
CMD_OBJS := $(filter $(BUILD)/cmd/%,$(OBJS))

# tests/unit/*.c: one cmocka program each; bench/*.c and tests/tools/*.c:
# helpers that scripts run
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/tools/*.c))
BENCH := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))

.PHONY: all deps test-deps quickstart check test asan sweep bench fuzz \
	install clean 80 format
all: $(BUILD)/tally

$(BUILD)/tally: $(CMD_OBJS) $(LIB)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LDLIBS_ALL)

$(LIB): $(LIB_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests/lib -MMD -MP -o $@ $< $(LIB) -lcmocka $(LDLIBS_ALL)

$(BUILD)/tools/%: tests/tools/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests/lib -MMD -MP -o $@ $< $(LIB) $(LDLIBS_ALL)

$(BUILD)/bench/%: bench/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests/lib -MMD -MP -o $@ $< $(LIB) $(LDLIBS_ALL)

-include $(OBJS:.o=.d) $(UNIT:=.d) $(TOOLS:=.d) $(BENCH:=.d)
