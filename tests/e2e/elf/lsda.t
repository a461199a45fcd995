#!/usr/bin/perl
# elf/lsda: call-site tables against the compiler's own assembly. The labels
# of each table are evaluated with the addresses that nm shows after linking;
# assembler and linker are told to keep them.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;
use File::Temp 'tempdir';
use ElfOracle;

my $dir = tempdir(CLEANUP => 1);

# the operands of each call site: [start, size, pad, action]
sub tables {
    my ($in, @fields, @sites) = 0;
    open my $s, '<', "$dir/s.s" or die;
    while (my $line = <$s>) {
        local $_ = $line;
        $in = 1, @fields = () if /^\.(LLSDACSB\w*|Lcst_begin\w*):/;
        $in = 0 if /^\.(LLSDACSE\w*|Lcst_end\w*):/;
        next unless $in && /^\s+\.(?:uleb128|byte)\s+([^\s#]+)/;
        push @fields, $1;
        push @sites, [splice @fields] if @fields == 4;
    }
    return @sites;
}

# A-B: the addresses of A and B, B's may be 0
sub value {
    my ($addr, $e) = @_;
    my ($plus, $minus) = split /-/, $e;
    no warnings 'portable';
    my @v = map { !defined ? 0 : /^[0-9]/ ? oct : hex($addr->{$_} // die $_) }
        $plus, $minus;
    return @v;
}

sub try {
    my ($cxx, $cross, $flags, $plain) = @_;
    my $name = "$cxx $flags";
    if (system("$cxx -O2 $flags$plain -S -o $dir/s.s tests/lib/elf-sample.cc"
            . " 2>$dir/log && ${cross}as -L -o $dir/s.o $dir/s.s"
            . " && ${cross}g++ $flags -Wl,--discard-none -o $dir/s $dir/s.o"
            . " 2>$dir/log")) {
        SKIP: { skip "$name does not build here", 1 }
        return;
    }
    my %addr = map { my @w = split; @w == 3 ? ($w[2] => $w[0]) : () }
        run("${cross}nm", "$dir/s");
    my @want = map {
        my ($start) = value(\%addr, $_->[0]);
        my ($end, $begin) = value(\%addr, $_->[1]);
        my ($pad) = value(\%addr, $_->[2]);
        sprintf '%x %x %x %s', $start, $start + $end - $begin, $pad,
            oct($_->[3]) ? 'catch' : 'cleanup';
    } tables();
    my @got = elf_dump('sites', "$dir/s");
    ok(!grep({ /bad/ } @got), "$name: every table decodes");
    same_lines([grep { !/^fde/ } @got], \@want, "$name: call sites");
    cmp_ok(scalar(grep { / [1-9a-f]\w* \w+$/ } @want), '>', 5,
        "$name: there are landing pads");
}

for (['g++', ''], [cross() . 'g++', cross()], ['clang++', '']) {
    my ($cxx, $cross) = @$_;
    if (system("command -v $cxx >/dev/null")) {
        SKIP: { skip "no $cxx", 1 }
        next;
    }
    # GNU as does not know what clang tells lld
    my $plain = $cxx eq 'clang++' ? ' -fno-addrsig' : '';
    try($cxx, $cross, $_, $plain) for '-pie -fPIE', '-no-pie -fno-pie';
}
done_testing;
