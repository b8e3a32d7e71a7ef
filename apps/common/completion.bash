# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of the programs' command lines for bash, installed under each program's name where bash-completion looks
# for it. It follows the program's own --help.

# Reads the --help of program $1 into `options` ("--name" to VALUE, empty of a flag), `letters` ("-n" to "--name"),
# `commands`, `words` of a section ("METRIC" to those below "Metrics, ...:") and `arguments` of the usage. Of a program
# with commands only the options of command $2.
_framequality_read() {
  local help line title='' name
  help=$("$1" --help 2>/dev/null) || return
  while IFS= read -r line; do
    if [[ $line == [!\ ]*: && $line != [Uu]sage: ]]; then
      title=${line%:}
    elif [[ $title == 'Options of '* && " $title " != *" $2 "* ]]; then
      continue
    elif [[ $line =~ ^\ *((-[^-\ ]),\ )?(--[a-z][a-z-]*)([=\ ]([^ ]+))? && $line == ' '* ]]; then
      name=${BASH_REMATCH[3]}
      order+=("$name")
      options[$name]=${BASH_REMATCH[5]-}
      if [[ -n ${BASH_REMATCH[2]} ]]; then letters[${BASH_REMATCH[2]}]=$name; fi
    elif [[ $line =~ ^\ \ ([^ ]+)\ \[[^]]+\]:\  ]]; then
      name=${title%%[!A-Za-z]*}
      name=${name^^}
      listed[${name%S}]+=${BASH_REMATCH[1]}' '
    elif [[ -z $title && $line =~ ^([Uu]sage:)?\ +framequality-[a-z]+\ (([a-z]+)\ )?\[OPTION[^]]*\]\ ([^ ]+) ]]; then
      if [[ -n ${BASH_REMATCH[3]} ]]; then commands+=("${BASH_REMATCH[3]}"); fi
      arguments=${BASH_REMATCH[4]}
    fi
  done <<<"$help"
}

# Offers what a value such as csv|jsonl, FILE.html or DIR can be.
_framequality_value() {
  local word values=()
  case $1 in
    *'|'*)
      for word in ${1//|/ }; do
        if [[ $word != *[A-Z]* ]]; then values+=("$word"); fi
      done
      ;;
    FILE | FILE...) _filedir ;;
    FILE.*) _filedir "${1#FILE.}" ;;
    DIR | DIR...) _filedir -d ;;
    HOST) mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur") ;;
    '['*']URL...') _filedir ;;
    '') ;;
    *) read -r -a values <<<"${listed[$1]-}" ;;
  esac
  if ((${#values[@]})); then mapfile -t COMPREPLY < <(compgen -W "${values[*]}" -- "$cur"); fi
}

_framequality() {
  # shellcheck disable=SC2034  # _init_completion sets them
  local cur prev words cword split
  _init_completion -s || return
  local -A options=() letters=() listed=()
  local order=() commands=() arguments='' offered=() name
  _framequality_read "${words[0]/#\~\//$HOME/}" "${words[1]-}"
  if ((cword == 1 && ${#commands[@]})); then
    mapfile -t COMPREPLY < <(compgen -W "${commands[*]} --help --version" -- "$cur")
    return
  fi
  prev=${letters[$prev]:-$prev}
  if [[ -n ${options[$prev]-} ]]; then
    _framequality_value "${options[$prev]}"
  elif ! $split && [[ $cur == -* ]]; then
    for name in "${order[@]}"; do offered+=("$name${options[$name]:+=}"); done
    if ((${#commands[@]})); then offered+=(--help); fi
    mapfile -t COMPREPLY < <(compgen -W "${offered[*]}" -- "$cur")
    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
  elif ! $split; then
    # Programs with commands take files of several kinds.
    if ((${#commands[@]})); then arguments=FILE; fi
    _framequality_value "$arguments"
  fi
} && complete -F _framequality framequality-scan framequality-merge framequality-bliinds framequality-watch
