
# What is before this line comes from the tables of options, what is behind it
# is the same for all of them.

# names of one kind
_tally_names() {
	local -a names

	names=(${(f)"$($_tally_path names $1 $_tally_words 2>/dev/null)"})
	compadd -a names
}

# what a value may be: words, and @kinds of things
_tally_offer() {
	local offer

	# what _arguments has put before it is for compadd
	while [[ $1 == -* ]]; do
		shift
	done
	for offer; do
		case $offer in
		@files) _files ;;
		@directories) _files -/ ;;
		@profiles) _files -g '*.tally' || _files ;;
		@commands) _describe command _tally_commands ;;
		@*) _tally_names ${offer#@} ;;
		*) compadd -- $offer ;;
		esac
	done
}

# the words of a program that is run
_tally_program() {
	if [[ $words[1] == -- ]]; then
		shift words
		(( CURRENT-- ))
	fi
	_normal
}

_tally() {
	local curcontext=$curcontext state line _tally_path=$words[1]
	local -a specs _tally_words=(${words[3,-1]})

	_tally_of_tally
	_arguments -C -S -A '-*' $specs ':command:->command' \
		'*::argument:->argument'
	if [[ $state == command ]]; then
		_describe command _tally_commands
	elif [[ $state == argument ]] &&
		(( $+functions[_tally_of_$words[1]] )); then
		curcontext=${curcontext%:*:*}:tally-$words[1]:
		_tally_of_$words[1]
		if (( $_tally_runners[(Ie)$words[1]] )); then
			specs+=('(-)1:program:_command_names -e'
				'*::argument:_tally_program')
			_arguments -S -A '-*' $specs
		else
			_arguments -S $specs
		fi
	fi
}

# as a file of $fpath this is the body of the function
if [[ $funcstack[1] == _tally ]]; then
	_tally "$@"
else
	compdef _tally tally
fi
