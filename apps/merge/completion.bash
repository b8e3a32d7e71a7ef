# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of framequality-merge's command line for bash, installed where bash-completion looks for it.
_framequality_merge() {
  # shellcheck disable=SC2034  # _init_completion sets them
  local cur prev words cword split
  _init_completion -s || return
  case $prev in
    --output | -o | --errors) _filedir ;;
    --report) _filedir html ;;
    --details | --detail) ;;
    *)
      $split && return
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '--help --output= --errors= --report= --details= --detail= --quiet
          --version' -- "$cur")
        if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
      else
        _filedir -d
      fi
      ;;
  esac
} && complete -F _framequality_merge framequality-merge
