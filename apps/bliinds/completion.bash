# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of framequality-bliinds' command line for bash, installed where bash-completion looks for it.
_framequality_bliinds() {
  # shellcheck disable=SC2034  # _init_completion sets them
  local cur prev words cword split
  _init_completion -s || return
  if ((cword == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'features score --help --version' -- "$cur")
    return
  fi
  case $prev in
    --channel) mapfile -t COMPREPLY < <(compgen -W 'luma red' -- "$cur") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto cpu cuda' -- "$cur") ;;
    --model) _filedir ;;
    --interval | --stall-timeout) ;;
    *)
      $split && return
      if [[ $cur == -* ]]; then
        local options='--channel= --device= --interval= --stall-timeout='
        if [[ ${words[1]} == score ]]; then options+=' --model='; fi
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$cur")
        if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
      else
        _filedir
      fi
      ;;
  esac
} && complete -F _framequality_bliinds framequality-bliinds
