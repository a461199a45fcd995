#!/usr/bin/perl
# elf/system: programs and libraries of this system, read by tally and by
# readelf. ELF_LIST in the environment names a file that lists others.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use ElfOracle;

# the files to read, one per line
sub listed {
    my $path = shift;
    open my $list, '<', $path or die "$path: $!";
    chomp(my @files = <$list>);
    return @files;
}

my @files = $ENV{ELF_LIST} ? listed($ENV{ELF_LIST}) : grep { -r }
    qw(/bin/ls /bin/bash /bin/gzip /usr/bin/perl),
    glob('/usr/lib/*/libc.so.6 /usr/lib/*/libstdc++.so.6 /usr/lib/*/libm.so.6
        /usr/lib/*/libgcc_s.so.1 /usr/lib/*/ld-linux-*.so.*
        /usr/*-linux-gnu/lib/libc.so.6 /usr/*-linux-gnu/lib/libstdc++.so.6');
elf_same_all($_, $_) for @files;
done_testing;
