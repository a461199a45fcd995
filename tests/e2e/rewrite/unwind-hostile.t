#!/usr/bin/perl
# rewrite/unwind-hostile: new unwind tables for thousands of damaged files, in
# the sanitizer build if that is what BUILD names: no crash, and what is moved is
# described as the damaged tables did. UNWIND_MUTANTS: how many of each.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use File::Temp 'tempdir';
use ElfOracle;

my $dir = tempdir(CLEANUP => 1);
my $build = $ENV{BUILD} // 'build';
my $count = $ENV{UNWIND_MUTANTS} // 1500;
my $flags = '-std=c++14 -w -O2 -Wl,-z,max-page-size=4096';
my @ways = (['g++', ''], ['g++', '-no-pie -fno-pie'], ['clang++', ''],
    [cross() . 'g++', '']);

for my $i (0 .. $#ways) {
    my ($cxx, $more) = @{$ways[$i]};
    if (system("$cxx $flags $more -o $dir/$i tests/lib/unwind-sample.cc"
            . " 2>/dev/null")) {
        SKIP: { skip "$cxx $more does not build here", 1 }
        next;
    }
    my @out = run("$build/tools/move-unwind", 'mutate', $count, "$dir/$i");
    is($?, 0, "$cxx $more: $count mutants do no harm");
    my ($refused) = "@out" =~ /(\d+) refused/;
    cmp_ok($refused // $count, '<', $count / 2, "  most are moved");
}
done_testing;
