#compdef offshoot
# Completions of offshoot for zsh.

_offshoot() {
    local value help
    local -a values shown open open_shown
    local -i longest=0
    while IFS=$'\t' read -r value help; do
        (( ${#value} > longest )) && longest=${#value}
        values+=("$value") shown+=("$help")
    done < <(command offshoot completions -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)

    local -i i
    local -a whole whole_shown home home_shown
    for ((i = 1; i <= ${#values}; i++)); do
        value=$values[i]
        help="${(r:longest:)value}  $shown[i]"
        help=${help[1,COLUMNS-1]}
        case $value in
        # Between quotes `~` is no home folder.
        \~/*) [[ -z $compstate[quote] ]] && home+=("~/${(q)value#\~/}") home_shown+=("$help") ;;
        *[=:/]) open+=("$value") open_shown+=("$help") ;;
        *) whole+=("$value") whole_shown+=("$help") ;;
        esac
    done
    # Values are in a good order already: `-V` keeps it. After a folder or a `=`, more follows.
    (( ${#whole} )) && compadd -l -V whole -d whole_shown -a whole
    (( ${#home} )) && compadd -l -V home -Q -S '' -d home_shown -a home
    (( ${#open} )) && compadd -l -V open -S '' -d open_shown -a open
}

if [[ $funcstack[1] == _offshoot ]]; then
    _offshoot "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef _offshoot offshoot
fi
