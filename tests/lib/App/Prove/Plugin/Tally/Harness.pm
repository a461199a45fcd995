# Harness: see ../Tally.pm.
package App::Prove::Plugin::Tally::Harness;

use strict;
use warnings;
use parent 'TAP::Harness';

my %count = (passed => 0, failed => 0, skipped => 0);
my (@reasons, @failures);

sub make_parser {
	my ($self, $job) = @_;
	my ($parser, $session) = $self->SUPER::make_parser($job);
	my $name = $job->description;
	my $explained = 0; # what a test that failed has to say comes after it

	$parser->callback(test => sub {
		my ($test) = @_;

		$explained = !$test->is_ok;
		if ($test->has_skip) {
			$count{skipped}++;
			push @reasons, "$name: " . $test->explanation;
		} elsif ($test->is_ok) {
			$count{passed}++;
		} else {
			$count{failed}++;
			push @failures, "$name: " . $test->as_string;
		}
	});
	$parser->callback(comment => sub {
		push @failures, $_[0]->as_string if $explained;
	});
	$parser->callback(plan => sub {
		my ($plan) = @_;

		return unless $plan->has_skip;
		$count{skipped}++;
		push @reasons, "$name: " . $plan->explanation;
	});
	return ($parser, $session);
}

sub summary {
	my ($self, $aggregate, @rest) = @_;
	# a program that died or broke its plan has failed, whatever it printed
	my $broken = grep { !$_->is_good_plan || $_->exit }
		$aggregate->parsers($aggregate->descriptions);

	$self->SUPER::summary($aggregate, @rest);
	$count{failed} += $broken if !$count{failed};
	if (@reasons) {
		print "skipped:\n";
		print "  $_\n" for @reasons;
	}
	if (my $file = $ENV{TALLY_SKIPS}) {
		open(my $out, '>', $file) or die "$file: $!";
		print $out "$_\n" for @reasons;
		close($out);
	}
	if (@failures) {
		print "failed:\n";
		print "  $_\n" for @failures;
	}
	print "$count{passed} passed, $count{failed} failed, ",
	      "$count{skipped} skipped\n";
}

1;
