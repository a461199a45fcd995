#!/usr/bin/perl
# elf/hostile: thousands of damaged files, in the sanitizer build if that is
# what BUILD names. ELF_MUTANTS: how many of each of the eight samples.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use File::Temp 'tempdir';
use ElfOracle;

my $dir = tempdir(CLEANUP => 1);
my $build = $ENV{BUILD} // 'build';
my $count = $ENV{ELF_MUTANTS} // 3000;
my $most_kb = 512 * 1024;
my $small = '-Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code';
my @ways = (
    ['g++', '-pie -fPIE'],
    ['g++', '-no-pie -fno-pie -Wl,-q'],
    ['g++', '-shared -fPIC -Wl,-z,pack-relative-relocs'],
    ['g++', '-pie -fPIE -s -Wl,--hash-style=sysv'],
    [cross() . 'g++', '-pie -fPIE'],
    [cross() . 'g++', '-no-pie -fno-pie -Wl,-q'],
    [cross() . 'g++', '-shared -fPIC -Wl,-z,pack-relative-relocs'],
    ['clang++', '-pie -fPIE'],
);

for my $i (0 .. $#ways) {
    my ($cxx, $flags) = @{$ways[$i]};
    if (system("$cxx -O2 $small $flags -o $dir/$i tests/lib/elf-sample.cc"
            . " 2>/dev/null")) {
        SKIP: { skip "$cxx $flags does not build here", 1 }
        next;
    }
    my @out = run("$build/tools/elf-mutate", 'run', $count, "$dir/$i");
    is($?, 0, "$cxx $flags: $count mutants do no harm");
    my ($refused) = "@out" =~ /(\d+) refused/;
    my ($peak) = "@out" =~ /peak (\d+)/;
    cmp_ok($refused // 0, '<', $count * 0.9, "  most are read (- $refused)");
    cmp_ok($peak // 1e9, '<', $most_kb, "  in little memory ($peak KB)");
}
done_testing;
