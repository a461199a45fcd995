
# What is before this line comes from the tables of options, what is behind it
# is the same for all of them. With the bash-completion package the arguments of
# a program that is run are completed as its own.

# whether word $1 is not the beginning of one: bash cuts at colons
_tally_goes_on() {
	[[ ${COMP_WORDS[$1]} == :* || ${COMP_WORDS[$1 - 1]} == *: ]]
}

# the word at the cursor as the program would see it
_tally_whole_word() {
	local i=$COMP_CWORD word=$1

	while ((i > 2)) && _tally_goes_on "$i"; do
		word=${COMP_WORDS[--i]}$word
	done
	printf '%s\n' "$word"
}

# replies with names of one kind that begin with the word, quoted
_tally_reply_names() {
	local kind=$1 word line

	word=$(_tally_whole_word "$2")
	while IFS= read -r line; do
		if [[ $line == "$word"* ]]; then
			printf -v line %q "$line"
			COMPREPLY+=("${line#"${word%"${word##*:}"}"}")
		fi
	done < <("$tally" names "$kind" "${COMP_WORDS[@]:2}" 2>/dev/null)
}

_tally_reply_words() {
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tally_reply_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$@")
}

# profiles and folders; any file if there are none of these
_tally_reply_profiles() {
	_tally_reply_files -f -X '!*.tally' -- "$1"
	_tally_reply_files -d -- "$1"
	((${#COMPREPLY[@]})) || _tally_reply_files -f -- "$1"
}

# replies with what is offered: words, and @kinds of things
_tally_reply() {
	local cur=$2 offer

	for offer in $1; do
		case $offer in
		@files) _tally_reply_files -f -- "$cur" ;;
		@directories) _tally_reply_files -d -- "$cur" ;;
		@profiles) _tally_reply_profiles "$cur" ;;
		@commands) _tally_reply_words "$_tally_commands" "$cur" ;;
		@*) _tally_reply_names "${offer#@}" "$cur" ;;
		*) _tally_reply_words "$offer" "$cur" ;;
		esac
	done
}

# the program that is run, and its words, from number $1 on
_tally_reply_program() {
	local first=$1 cur=$2

	if ((COMP_CWORD == first)); then
		if [[ $cur == */* ]]; then
			_tally_reply_files -f -- "$cur"
		else
			_tally_reply_files -c -- "$cur"
			_tally_reply_files -d -- "$cur"
		fi
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$first"
	else
		_tally_reply_files -f -- "$cur"
	fi
}

_tally() {
	local tally=${COMP_WORDS[0]/#~\//$HOME/} command=${COMP_WORDS[1]} cur=$2
	local i word option="" number=0 options=yes

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_tally_reply_words "$_tally_commands ${_tally_options[tally]}" \
			"$cur"
		return
	fi
	# what is before the cursor: an option that waits for its value, or
	# that many operands
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == '=' && $option ]]; then
			continue
		elif [[ $option ]]; then
			option=
		elif [[ $options && $word == -- ]]; then
			options=
		elif [[ $options && $word == -?* ]]; then
			[[ ${_tally_values["$command $word"]+is} ]] &&
				option=$word
		elif [[ " $_tally_runners " == *" $command "* ]]; then
			_tally_reply_program "$i" "$cur"
			return
		elif ! _tally_goes_on "$i"; then
			((number++))
		fi
	done
	_tally_goes_on "$COMP_CWORD" && ((number--))
	[[ $cur == '=' ]] && cur=
	if [[ $option ]]; then
		_tally_reply "${_tally_values["$command $option"]}" "$cur"
	elif [[ $options && $cur == -* ]]; then
		_tally_reply_words "${_tally_options[$command]}" "$cur"
	elif [[ " $_tally_runners " == *" $command "* ]]; then
		_tally_reply_program "$COMP_CWORD" "$cur"
	elif [[ ${_tally_values["$command $number"]+is} ]]; then
		_tally_reply "${_tally_values["$command $number"]}" "$cur"
	else
		_tally_reply "${_tally_values["$command more"]}" "$cur"
	fi
}

complete -F _tally tally
