#!/usr/bin/perl
# elf/variants: one program linked in every way we know, for every compiler
# there is, read by tally and by readelf; and stripped of its section headers,
# after which tally must still find what is not lost.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use File::Temp 'tempdir';
use ElfOracle;

my $dir = tempdir(CLEANUP => 1);
my @ways = (
    ['pie', '-pie -fPIE'],
    ['no-pie', '-no-pie -fno-pie'],
    ['static', '-static -no-pie -fno-pie'],
    ['static-pie', '-static-pie -fPIE'],
    ['shared', '-shared -fPIC -Wl,-soname,libsample.so.1'],
    ['emit-relocs', '-pie -fPIE -Wl,-q -g'],
    ['emit-relocs-no-pie', '-no-pie -fno-pie -Wl,-q'],
    ['relr', '-pie -fPIE -Wl,-z,pack-relative-relocs'],
    ['sysv-hash', '-pie -fPIE -Wl,--hash-style=sysv'],
    ['now', '-pie -fPIE -Wl,-z,now'],
    ['lld', '-pie -fPIE -fuse-ld=lld'],
    ['lld-relr', '-pie -fPIE -fuse-ld=lld -Wl,--pack-dyn-relocs=relr'],
);

# leaves no section headers
sub bare {
    my ($file, $out) = @_;
    open my $in, '<:raw', $file or die;
    my $bytes = do { local $/; <$in> };
    substr($bytes, 40, 8) = "\0" x 8;      # e_shoff
    substr($bytes, 58, 6) = "\0" x 6;      # e_shentsize, e_shnum, e_shstrndx
    open my $to, '>:raw', $out or die;
    print $to $bytes;
    close $to;
}

# the lines of `what` that hold without section headers
sub lasting {
    my ($file, $what, $dynamic) = @_;
    my @lines = elf_dump($what, $file);
    @lines = grep { !/,text/ } @lines if $what eq 'relocs';
    # symbols of both tables were merged; only those of .dynsym remain
    @lines = grep { /^\w+ \w+ \wg?d/ } @lines if $what eq 'symbols';
    return @lines;
}

sub try_bare {
    my ($file, $name) = @_;
    bare($file, "$dir/bare");
    my $dynamic = grep { /^dynamic 1/ } elf_dump('head', $file);
    my $hdr = grep { /GNU_EH_FRAME/ } run('readelf', '-lW', $file);
    elf_same_segments("$dir/bare", "$name bare");
    for my $what ('symbols', 'relocs', 'ctors') {
        next unless $dynamic;
        same_lines([lasting("$dir/bare", $what)], [lasting($file, $what)],
            "$name bare: $what");
    }
    for my $what ('fdes', 'rows', 'sites') {
        next unless $hdr;
        same_lines([elf_dump($what, "$dir/bare")], [elf_dump($what, $file)],
            "$name bare: $what");
    }
}

# init_array as the symbols say
sub try_ctors {
    my ($file, $name) = @_;
    my %at = map { /^(\w+) \w+ F\w+ (.*)/ ? ($2 => $1) : () }
        elf_dump('symbols', $file);
    my %ctor = map { $_ => 1 } elf_dump('ctors', $file);
    my ($begin, $end) = map { my $n = $_; (grep { /$n/ } keys %at)[0] }
        'begin_sample', 'end_sample';
    ok($ctor{$at{$begin}} && $ctor{$at{$end}}, "$name: constructors");
}

# what a static program of a cross compiler needs (tests/lib/cfg_oracle.py)
my %mended;
sub mended_libm {
    my ($isa) = @_;
    return $mended{$isa} //= ask_mended_libm($isa);
}

sub ask_mended_libm {
    my ($isa) = @_;
    my $flags = qx{PYTHONPATH=tests/lib python3 -c 'from cfg_oracle import *;
print(*mended_libm("$isa"))'};
    chomp $flags;
    return $flags;
}

# the sample compiled; once for all ways that differ in how they link only
my %objects;
sub object {
    my ($cxx, $flags) = @_;
    my $words = join ' ', $cxx, '-O2',
        grep { /^-[fg]/ && !/^-fuse-ld/ } split ' ', $flags;
    return $objects{$words} //= compile($words);
}

sub compile {
    my ($words) = @_;
    my $out = "$dir/object" . keys(%objects) . '.o';
    return system("$words -c -o $out tests/lib/elf-sample.cc 2>$dir/log") ?
        '' : $out;
}

sub try_way {
    my ($cxx, $way, $flags) = @_;
    my ($name, $file) = ("$cxx $way", "$dir/sample");
    $flags .= " -B$dir/bin" if $way =~ /lld/;
    $flags .= ' ' . mended_libm($1) if $cxx =~ /^(\w+)-linux-gnu-/;
    my $object = object($cxx, $flags);
    if (!$object || system("$cxx -O2 $flags -o $file $object 2>$dir/log")) {
        SKIP: { skip "$name does not link here", 1 }
        return;
    }
    elf_same_all($file, $name);
    try_ctors($file, $name);
    try_bare($file, $name);
    system("cp $file $dir/stripped") == 0 or die;
    my ($prefix) = $cxx =~ /^(.*-)?/;
    system(($prefix // '') . "strip $dir/stripped") == 0 or die;
    elf_same_all("$dir/stripped", "$name stripped");
}

# a cross compiler asks for PREFIX-ld.lld, which nobody has, but lld itself
# serves all machines: show it where to look
my ($lld) = run('sh', '-c', 'command -v ld.lld');
mkdir "$dir/bin";
symlink $lld, "$dir/bin/ld.lld" or die if $lld;

for my $cxx ('g++', cross() . 'g++', 'clang++') {
    if (system("command -v $cxx >/dev/null")) {
        SKIP: { skip "no $cxx", 1 }
        next;
    }
    try_way($cxx, @$_) for @ways;
}
done_testing;
