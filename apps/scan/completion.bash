# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of framequality-scan's command line for bash, installed where bash-completion looks for it.
_framequality_scan() {
  # shellcheck disable=SC2034  # _init_completion sets them
  local cur prev words cword split
  _init_completion -s || return
  case $prev in
    --format | -f) mapfile -t COMPREPLY < <(compgen -W 'csv jsonl' -- "$cur") ;;
    --metric | -m)
      mapfile -t COMPREPLY < <(compgen -W 'variance roberts tenengrad laplacian gray-difference gray-difference-product
        max-min entropy laplacian-variance brenner normalized-variance vollath-f4
        mean-square-frequency' -- "$cur")
      ;;
    --prefilter) mapfile -t COMPREPLY < <(compgen -W 'none binomial3 binomial5' -- "$cur") ;;
    --downscale) mapfile -t COMPREPLY < <(compgen -W '1 2 4' -- "$cur") ;;
    --normalize) mapfile -t COMPREPLY < <(compgen -W 'none mean' -- "$cur") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto cpu cuda' -- "$cur") ;;
    --pictures) mapfile -t COMPREPLY < <(compgen -W 'png jpeg' -- "$cur") ;;
    --originals) mapfile -t COMPREPLY < <(compgen -W 'copy hardlink symlink' -- "$cur") ;;
    --progress) mapfile -t COMPREPLY < <(compgen -W 'bar json' -- "$cur") ;;
    --export | --output | -o) _filedir -d ;;
    --report) _filedir html ;;
    --manifest) _filedir json ;;
    --files-from) _filedir ;;
    --zones | --roi | --interval | --significant-bits | --best | --every | --stall-timeout) ;;
    --jobs | -j | --segments | --gpus | --shard) ;;
    *)
      $split && return
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '--help --help-all --help-gst --format= --metric= --prefilter= --downscale=
          --normalize= --noise-correction --zones= --roi= --device= --interval= --significant-bits= --best= --every=
          --set --export= --pictures= --originals= --manifest= --report= --output= --resume --keep-going
          --stall-timeout= --jobs= --segments= --gpus= --shard= --files-from= --null --progress= --quiet --version' -- "$cur")
        if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
      else
        _filedir
      fi
      ;;
  esac
} && complete -F _framequality_scan framequality-scan
