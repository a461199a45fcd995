# ElfOracle: compares what tally's ELF reader finds in a file (through the
# tool elf-dump) with what readelf finds. Each elf_same_* is one TAP test.
package ElfOracle;
use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use Test::More;

our @EXPORT = qw(elf_dump elf_same_all elf_same_segments elf_same_symbols
    elf_same_relocs elf_same_fdes elf_same_rows elf_same_head same_lines run cross);

my $build = $ENV{BUILD} // 'build';
my $dump = "$build/tools/elf-dump";

# the lines a command prints
sub run {
    open my $pipe, '-|', @_ or die "@_: $!";
    my @lines = <$pipe>;
    close $pipe;
    chomp @lines;
    return @lines;
}

# how the other machine's tools are called: PREFIXg++ and so on
sub cross {
    my $other = (POSIX::uname())[4] eq 'aarch64' ? 'x86_64' : 'aarch64';
    return "$other-linux-gnu-";
}

sub readelf { return run('sh', '-c', 'exec readelf "$@" 2>/dev/null', 'readelf', @_) }

sub elf_dump { return run($dump, @_) }

# hexadecimal without leading zeros
sub hex_of { my $x = shift; $x =~ s/^0x//; $x =~ s/^0+(?=.)//; return lc $x }

sub hex_add {
    no warnings 'portable';
    my ($x, $y) = @_;
    use integer;
    return sprintf '%x', hex($x) + $y;
}

# passes if both lists have the same lines in any order; shows the first few
# that differ
sub same_lines {
    my ($got, $want, $name) = @_;
    my %n;
    $n{$_}++ for @$got;
    $n{$_}-- for @$want;
    my @more = grep { $n{$_} > 0 } sort keys %n;
    my @less = grep { $n{$_} < 0 } sort keys %n;
    return ok(!@more && !@less, "$name (" . @$want . ')')
        || diag map({ "  only tally:   $_\n" } @more[0 .. min(4, $#more)]),
        map({ "  only readelf: $_\n" } @less[0 .. min(4, $#less)]);
}

sub min { return $_[0] < $_[1] ? $_[0] : $_[1] }

# [start, file_end, end, offset, flags] of each PT_LOAD, as numbers
sub loads {
    my $file = shift;
    no warnings 'portable';
    my @loads;
    for (readelf('-lW', $file)) {
        next unless /^\s+LOAD\s+(\S+) (\S+) \S+ (\S+) (\S+) (.{3}) /;
        my ($offset, $start, $size, $mem) = map { hex } $1, $2, $3, $4;
        my $flags = lc $5;
        $flags =~ tr/e /x/d;
        push @loads, [$start, $start + $size, $start + $mem, $offset, $flags]
            if $mem;
    }
    return @loads;
}

sub loaded {
    my ($loads, $addr) = @_;
    no warnings 'portable';
    my $x = hex $addr;
    return grep { $x >= $_->[0] && $x < $_->[2] } @$loads;
}

sub elf_same_segments {
    my ($file, $name) = @_;
    my @want = map { sprintf '%x %x %x %x %s', @$_ } loads($file);
    same_lines([elf_dump('segments', $file)], \@want, "$name: segments");
}

# entry, interpreter, soname, build id
sub elf_same_head {
    my ($file, $name) = @_;
    my %want = (interp => '-', soname => '-', build_id => '', entry => 0);
    for (readelf('-hldnW', $file)) {
        $want{entry} = hex_of($1) if /Entry point address:\s+(\S+)/;
        $want{interp} = $1 if /Requesting program interpreter: (.*)\]/;
        $want{soname} = $1 if /\(SONAME\).*\[(.*)\]/;
        $want{build_id} = $1 if /Build ID: (\w+)/ && !$want{build_id};
    }
    my %got = (entry => 0);
    for (elf_dump('head', $file)) {
        $got{entry} = $1 if /entry (\S+)/;
        $got{$1} = $2 if /^(interp|soname|build_id) ?(.*)/;
    }
    is_deeply(\%got, \%want, "$name: entry, interpreter, soname, build id");
}

# defined symbols, as elf-dump prints them; those of .dynsym have versions
sub elf_same_symbols {
    my ($file, $name) = @_;
    my @loads = loads($file);
    my %letter = (FUNC => 'F', IFUNC => 'F', OBJECT => 'O', NOTYPE => 'L');
    my (%want, $dynamic, %dynamic);
    for (readelf('-sW', $file)) {
        $dynamic = $1 eq '.dynsym' if /^Symbol table '(.*?)'/;
        my ($addr, $size, $type, $bind, $ndx, $sym) =
            /^\s+\d+: (\w+)\s+(\w+) (\w+)\s+(\w+|<.*?>: \d+)\s+\w+\s+(?:\[.*\])?\s*(\w+) ?(.*)/
            or next;
        next if $ndx =~ /UND|ABS|COM/ || !$letter{$type};
        next unless loaded(\@loads, $addr);
        $sym =~ s/@.*// if $dynamic;
        $sym =~ s/\s+$//;
        $size = sprintf '%x', $size =~ /^0x/ ? hex $size : $size;
        my $letter = $type eq 'NOTYPE' && $sym =~ /^\$([xd])(\.|$)/ ?
            uc $1 : $letter{$type};
        my $line = join ' ', hex_of($addr), $size, $letter, $sym;
        $want{$line} //= {};
        $want{$line}{g} = 1 if $bind ne 'LOCAL';
        $want{$line}{d} = 1 if $dynamic;
        $want{$line}{i} = 1 if $type eq 'IFUNC';
    }
    my @want = map {
        my ($a, $s, $l, $n) = split / /, $_, 4;
        my $w = $want{$_};
        "$a $s $l" . ($w->{g} ? 'g' : 'l') . ($w->{d} ? 'd' : '')
            . ($w->{i} ? 'i' : '') . " $n";
    } keys %want;
    same_lines([elf_dump('symbols', $file)], \@want, "$name: symbols");
}

# sections by number: [name, flags, info]
sub sections {
    my $file = shift;
    my @sections;
    for (readelf('-SW', $file)) {
        next unless /^\s+\[\s*(\d+)\] (.*)/;
        my ($i, $rest) = ($1, $2);
        next unless $rest =~
            /^(\S*)\s+\S+\s+\w{16} \w+ \w+ \w\w\s+([A-Za-z]*)\s+\d+\s+(\d+)\s+\d+$/;
        $sections[$i] = [$1, $2, $3];
    }
    return @sections;
}

# how much of a relocation readelf and we can be compared by: place, type and
# its value where that is an address in the file, else the symbol's name
sub elf_same_relocs {
    my ($file, $name) = @_;
    my @sections = sections($file);
    my %alloc;
    for my $s (grep { defined } @sections) {
        my $of = $sections[$s->[2]];
        $alloc{$s->[0]} = $s->[1] =~ /A/ ? 'load'
            : $of && $of->[1] =~ /A/ ? 'text' : 'no';
    }
    my (@want, $from);
    # undefined ones may have a value: their PLT entry's address
    my %import = map { /\bUND ([^\s@]+)/ ? ($1 => 1) : () }
        readelf('--dyn-syms', '-W', $file);
    my ($relative) = grep { /Machine/ } readelf('-hW', $file);
    $relative = $relative =~ /AArch64/ ? '403' : '8';
    for (readelf('-rW', $file)) {
        $from = $1 if /^Relocation section '(.*?)'/;
        if ($from && $from =~ /relr/) {
            push @want, hex_of($1) . " $relative relr" if /^([0-9a-f]{16})$/;
            next;
        }
        my ($place, $info, $kind, $rest) =
            /^([0-9a-f]{16})\s+([0-9a-f]{16}) (\S+)\s+(.*)/ or next;
        next if $alloc{$from} eq 'no';
        my $text = $alloc{$from} eq 'text' ? ' text' : '';
        my $type = hex_of(substr $info, 8);
        next if $type eq '0';
        my $value = '?';
        if ($rest =~ /^([0-9a-f]+)$/) {
            $value = hex_of($1);
        } elsif ($rest =~ /^[^\s@]+\S*\(\) /) {
            $value = 'ifunc';    # readelf gives no address
        } elsif ($rest =~ /^([0-9a-f]{16})\s+(\S.*?) ([+-]) ([0-9a-f]+)$/
                && hex_of($1) ne '0' && $kind !~ /TLS|TPOFF|DTP|COPY/
                && !$import{(split /[@ ]/, $2)[0]}) {
            $value = hex_add($1, ($3 eq '-' ? -1 : 1) * hex $4);
        } elsif (!$text && $rest =~ /^[0-9a-f]{16}\s+([^\s@]+)/) {
            $value = "?$1";
        }
        push @want, hex_of($place) . " $type $value$text";
    }
    my @relr = grep { / relr$/ } @want;
    my %is_relr = map { /^(\S+)/; $1 => 1 } @relr;
    my @got = map {
        my ($place, $type, $kind, $value, $flags, $sym) = split / /, $_, 6;
        $value = '?' if $flags =~ /import/ || $kind eq 'other' && $flags !~ /text/;
        $value .= $sym if $value eq '?' && $sym ne '-' && $flags !~ /text/;
        $value = 'ifunc' if $kind eq 'irelative' && $sym ne '-';
        $value = 'relr' if $is_relr{$place} && $kind eq 'relative';
        "$place $type $value" . ($flags =~ /text/ ? ' text' : '');
    } elf_dump('relocs', $file);
    # values that readelf cannot give
    my %got = map { $_ => 1 } @got;
    my %seen;
    @want = map {
        my $l = $_;
        (my $unknown = $l) =~ s/^(\S+ \S+) \S+/$1 ?/;
        $got{$l} || !$got{$unknown} || $l =~ /relr/ ? $l : $unknown;
    } @want;
    @got = grep { !$seen{$_}++ } @got;
    my %uniq;
    @want = grep { !$uniq{$_}++ } @want;
    same_lines(\@got, \@want, "$name: relocations");
}

# FDE ranges; ours leaves out empty ones and those of discarded code
sub elf_same_fdes {
    my ($file, $name) = @_;
    my @want;
    for (readelf('-wN', '--debug-dump=frames', $file)) {
        next unless / FDE cie=\w+ pc=(\w+)\.\.(\w+)/;
        push @want, hex_of($1) . ' ' . hex_of($2)
            if hex_of($1) ne '0' && $1 ne $2;
    }
    my @got = map { s/ lsda.*//r } elf_dump('fdes', $file);
    same_lines(\@got, \@want, "$name: FDEs");
}

my %dwarf = (sp => 31, map({ ("x$_" => $_) } 0 .. 30));
my $i = 0;
$dwarf{$_} = $i++ for qw(rax rdx rcx rbx rsi rdi rbp rsp);
$dwarf{"r$_"} = $_ for 8 .. 15;

# a CFA as elf-dump prints it
sub cfa_of {
    my $cfa = shift;
    $cfa =~ s/^(\w+)([+-]\d+)$/r$dwarf{$1}$2/;
    return $cfa;
}

# CFA rows and whether the frame pointer is saved; equal neighbours are one. For an FDE without instructions readelf
# prints no row: it has its CIE's.
sub elf_same_rows {
    my ($file, $name) = @_;
    my (@want, %cie, $cie, $end, $last, $empty, $column);
    no warnings 'portable';
    for (readelf('--debug-dump=frames-interp', $file), 'end CIE ') {
        if (/^(\w+) .*CIE /) {
            push @want, $empty if $empty;
            ($cie, $end, $empty) = ($1, undef, undef);
        } elsif (/ FDE cie=(\w+) pc=(\w+)\.\.(\w+)/) {
            push @want, $empty if $empty;
            ($end, $last, $empty) = (undef, '', undef);
            next if $2 eq $3 || hex_of($2) eq '0';
            $end = hex $3;
            push @want, 'fde ' . hex_of($2);
            $empty = hex_of($2) . ' ' . ($cie{$1} // 'exp');
        } elsif (/^ +LOC +CFA/) {
            my @name = split;
            ($column) = grep { $name[$_] =~ /^(rbp|x29)$/ } 0 .. $#name;
        } elsif (/^([0-9a-f]{16}) (\S+)/) {
            my ($addr, $cfa) = (hex_of($1), cfa_of($2));
            s/ \(\w+\)//g;    # "r10 (r10)": one column
            $cfa .= ' fp' if $column && (split)[$column] !~ /^[us]$/;
            $cie{$cie} = $cfa if defined $cie && !defined $end;
            next if !defined $end || hex $addr >= $end;
            push @want, "$addr $cfa" if $cfa ne $last;
            ($last, $empty) = ($cfa, undef);
        }
    }
    same_lines([elf_dump('rows', $file)], \@want, "$name: CFA rows");
}

sub elf_same_all {
    my ($file, $name) = @_;
    elf_same_head($file, $name);
    elf_same_segments($file, $name);
    elf_same_symbols($file, $name);
    elf_same_relocs($file, $name);
    elf_same_fdes($file, $name);
    elf_same_rows($file, $name);
}

1;
