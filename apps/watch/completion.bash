# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of framequality-watch's command line for bash, installed where bash-completion looks for it.
_framequality_watch() {
  # shellcheck disable=SC2034  # _init_completion sets them
  local cur prev words cword split
  _init_completion -s || return
  case $prev in
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto cpu cuda' -- "$cur") ;;
    --listen) mapfile -t COMPREPLY < <(compgen -W 'none' -- "$cur") ;;
    --allow-host) mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur") ;;
    --config | -c) _filedir toml ;;
    --log) _filedir ;;
    --snapshots | --baselines) _filedir -d ;;
    --snapshots-most | --snapshots-most-bytes | --hold-time | --recovery-time | --repeat-interval | --learn-time | \
      --interval) ;;
    *)
      $split && return
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '--help --help-all --help-gst --config= --log= --listen= --allow-host=
          --snapshots= --snapshots-most= --snapshots-most-bytes= --baselines= --hold-time= --recovery-time=
          --repeat-interval= --learn-time= --interval= --device= --quiet --version' -- "$cur")
        if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
      else
        _filedir
      fi
      ;;
  esac
} && complete -F _framequality_watch framequality-watch
