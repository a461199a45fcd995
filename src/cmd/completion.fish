
# What is before this line comes from the tables of options, what is behind it
# is the same for all of them.

# reads the line up to the cursor: $__tally_number is how many operands there
# are, $__tally_first the number of the first among the words, or 0, and
# $__tally_ended whether -- has ended the options
function __tally_read
    set -g __tally_words (commandline -opc)
    set -g __tally_number 0
    set -g __tally_first 0
    set -g __tally_ended 0
    set -l i 3
    while test $i -le (count $__tally_words)
        set -l word $__tally_words[$i]
        if test $__tally_ended -eq 0 -a "$word" = --
            set __tally_ended 1
        else if test $__tally_ended -eq 0; and string match -qr -- '^-.' $word
            contains -- "$__tally_words[2] $word" $__tally_with_value
            and set i (math $i + 1)
        else
            set __tally_number (math $__tally_number + 1)
            test $__tally_first -eq 0; and set __tally_first $i
        end
        set i (math $i + 1)
    end
end

# the line is of this command
function __tally_is
    __tally_read
    test "$__tally_words[2]" = $argv[1]
    or test $argv[1] = tally -a (count $__tally_words) -eq 1
end

# the cursor is where an option of this command can be
function __tally_in
    __tally_is $argv[1]; and test $__tally_ended -eq 0
    and begin
        test $__tally_first -eq 0
        or not contains -- $argv[1] $__tally_runners
    end
end

# the cursor is at operand number $argv[2] of this command or, if that is
# "more", behind those that have numbers
function __tally_at
    __tally_is $argv[1]; or return
    test $__tally_ended -eq 1; or not string match -q -- '-*' (commandline -ct)
    or return
    if contains -- "$argv[1] $__tally_number" $__tally_operands
        test $__tally_number = $argv[2]
    else
        test $argv[2] = more
    end
end

function __tally_runs
    __tally_read
    contains -- "$__tally_words[2]" $__tally_runners
end

# the program that is run, and its words
function __tally_program
    __tally_read
    set -l words
    test $__tally_first -gt 0
    and set words (string escape -- $__tally_words[$__tally_first..-1])
    # a dash before a program begins an option of ours
    set -q words[1]; or not string match -q -- '-*' (commandline -ct)
    and complete -C (string join ' ' -- $words (commandline -ct))
end

# what a value may be: words, and @kinds of things
function __tally_offer
    set -l words (commandline -o)
    for offer in $argv
        switch $offer
            case @files # -F of `complete` does it
            case @directories
                __fish_complete_directories
            case @profiles
                __fish_complete_suffix .tally
            case @commands
                printf '%s\n' $__tally_commands
            case '@*'
                $words[1] names (string sub -s 2 $offer) $words[3..-1] \
                    2>/dev/null
            case '*'
                echo $offer
        end
    end
end

complete -c tally -n __tally_runs -a '(__tally_program)'
