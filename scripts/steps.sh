# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Named steps whose results are counted, for .ci/run and scripts/nightly, and the checks of sources that both run.
# A step that is not a test run counts as one case of the closing line "N passed, N failed, N skipped".

passed=0 failed=0 skipped=0
times=()  # a line for each step
failures=''  # the last lines of each step that failed
result='' # of the last step: "passed", "FAILED", "skipped", or its three counts
taken=0   # by the last step, in seconds

# step NAME COMMAND...: runs it and adds what it counted to the totals: its closing line, or itself as one case.
step() {
  local name=$1 begin=$SECONDS status log counts p f s
  shift
  printf '\n=== %s ===\n' "$name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  counts=$(tail -n 1 "$log" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p')
  if [[ -n $counts ]]; then
    read -r p f s <<<"$counts"
    # A step that fails without a failed case (no test ran) is a failure all the same.
    if ((status != 0 && f == 0)); then f=1; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    result="$p passed, $f failed, $s skipped"
  elif ((status == 77)); then
    skipped=$((skipped + 1)) result=skipped
  elif ((status == 0)); then
    passed=$((passed + 1)) result=passed
  else
    failed=$((failed + 1)) result=FAILED
  fi
  if ((status != 0 && status != 77)); then
    failures+=$(printf '\n=== the end of %s, status %d ===\n' "$name" "$status" && tail -n 60 "$log")$'\n'
  fi
  rm -f "$log"
  taken=$((SECONDS - begin))
  times+=("$(printf '%5d s  %-34s %s' "$taken" "$name" "$result")")
}

# Prints what failed, and what the steps took and counted; fails if one did.
closing() {
  printf '%s' "$failures"
  printf '\nTime of each step:\n'
  printf '%s\n' "${times[@]}"
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}

# Tracked files by pattern; all files but build folders where git does not answer (an archive, another owner's
# checkout).
sources() {
  git ls-files -z --cached --others --exclude-standard -- "$@" 2>/dev/null && return
  local names=() pattern
  for pattern in "$@"; do
    if [[ $pattern != :!* ]]; then names+=(-o -path "./$pattern"); fi
  done
  find . -path './build*' -prune -o -type f \( "${names[@]:1}" \) -print0
}

# tidy all|COMMIT: clang-tidy on the product's host code as a build without CUDA compiles it (those with sanitizers and of
# other releases are such); given a commit only on sources that changed since, or that include a header that did. Not on
# tests/: GoogleTest's macros would take the analyzer minutes a file, and the tests run under sanitizers. The analyzer
# also skips the sharpness kernels (compiled for each instruction set, a minute each time); the other checks do not.
tidy() {
  local chosen tidy=(xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build-tidy --extra-arg=-Wno-unknown-warning-option)
  local product=('gst/*.cpp' 'algorithms/*.cpp' 'cpu/*.cpp' 'host/*.cpp' 'apps/*.cpp' 'engine/*.cpp' 'c/*.cpp' 'python/*.cpp')
  # Without precompiled headers: clang-tidy could not read GCC's.
  CONFIGURE_ONLY=1 scripts/build build-tidy -Dcuda=disabled -Dtests=false -Dwerror=true -Dbuildtype=debug -Db_pch=false ||
    return
  chosen=$(mktemp)
  sources "${product[@]}" | if [[ $1 == all ]]; then cat; else /usr/bin/python3 scripts/changed.py "$1"; fi >"$chosen" || return
  tr '\0' '\n' <"$chosen" | sed 's/^/clang-tidy: /'
  # The last filter drops clang's counts of warnings in system headers. Not grep, which fails where it finds nothing.
  { sed -zn '\,^cpu/sharpness/.*kernels\.cpp$,!p' "$chosen" | "${tidy[@]}" &&
    sed -zn '\,^cpu/sharpness/.*kernels\.cpp$,p' "$chosen" | "${tidy[@]}" --checks=-clang-analyzer-*; } 2>&1 |
    sed -E '/^[0-9]+ warnings? generated\.$/d'
  local status=${PIPESTATUS[0]}
  rm -f "$chosen"
  return "$status"
}
