# Tally: a plugin for prove that ends the run with one line that counts
# passed, failed and skipped tests, with the reason of every skip, and with
# what failed and what that had to say. The reasons also go to the file $ENV{TALLY_SKIPS}, for .ci/run to judge.
package App::Prove::Plugin::Tally;

use strict;
use warnings;

sub load {
	my ($class, $p) = @_;
	$p->{app_prove}->harness('App::Prove::Plugin::Tally::Harness');
	return 1;
}

1;
