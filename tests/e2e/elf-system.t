#!/usr/bin/perl
# elf-system: programs and libraries of this system, read by tally and by
# readelf. ELF_FILES in the environment names other files.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use ElfOracle;

my @files = split ' ', $ENV{ELF_FILES} // '';
@files = grep { -r } qw(/bin/ls /bin/bash /bin/gzip /usr/bin/perl),
    glob('/usr/lib/*/libc.so.6 /usr/lib/*/libstdc++.so.6 /usr/lib/*/libm.so.6
        /usr/lib/*/libgcc_s.so.1 /usr/lib/*/ld-linux-*.so.*
        /usr/*-linux-gnu/lib/libc.so.6 /usr/*-linux-gnu/lib/libstdc++.so.6')
    unless @files;
elf_same_all($_, $_) for @files;
done_testing;
