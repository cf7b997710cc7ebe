# Completions of offshoot for bash 3.2 and later.

_offshoot() {
    local word words=() line=${COMP_LINE:0:COMP_POINT} i
    # bash cuts words at : = and @. They are joined again where no blank is between them.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -eq 0 || $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            words[${#words[@]}]=
        fi
        [[ $i -eq $COMP_CWORD ]] && word=$line
        line=${line#"$word"}
        words[${#words[@]} - 1]+=$word
    done

    COMPREPLY=()
    # Takes the quotes away. In a word that is quoted otherwise than as a whole nothing is offered: what is inserted there
    # could be run.
    local last=$((${#words[@]} - 1)) quote=
    case ${words[last]} in
    ?*[\'\"]* | *[\$\`]*) return ;;
    esac
    for ((i = 0; i <= last; i++)); do
        word=${words[i]}
        case $word in
        [\'\"]*)
            [[ $i -eq $last ]] && quote=${word:0:1}
            word=${word:1}
            word=${word%[\'\"]}
            ;;
        *) word=${word//\\/} ;;
        esac
        words[i]=$word
    done

    local typed=${words[last]} cut= value help values=() helps=() longest=0
    # What bash has cut off in front is not part of the answer.
    [[ -z $quote && $typed == *[:=@]* ]] && cut=${typed%"${typed##*[:=@]}"}
    while IFS=$'\t' read -r value help; do
        values[${#values[@]}]=$value
        helps[${#helps[@]}]=$help
        [[ ${#value} -gt $longest ]] && longest=${#value}
    done < <(command offshoot completions -- "${words[@]}" 2>/dev/null)

    local offered=0
    for ((i = 0; i < ${#values[@]}; i++)); do
        value=${values[i]}
        if [[ $COMP_TYPE -eq 63 && ${#values[@]} -gt 1 ]]; then
            # A list only: values in columns, with their descriptions as far as there is room.
            printf -v value '%-*s  %s' "$longest" "$value" "${helps[i]}"
            value=${value:0:${COLUMNS:-80}-1}
        elif [[ -z $quote ]]; then
            value=${value#"$cut"}
            case $value in
            \~/*) printf -v value '~/%q' "${value:2}" ;;
            *) printf -v value %q "$value" ;;
            esac
        else
            # No text can stand for these between such quotes.
            case $quote$value in
            \'*\'* | \"*[\$\`\"\\!]*) continue ;;
            esac
        fi
        COMPREPLY[offered]=$value
        offered=$((offered + 1))
    done
    if [[ ${#values[@]} -eq 1 && ${values[0]} == *[=:/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -o nosort -F _offshoot offshoot 2>/dev/null || complete -F _offshoot offshoot
