#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Puts the Python package together from its sources and its module, by links. usage: link_package.sh SOURCES MODULE FOLDER
set -eu
rm -rf "$3"
mkdir -p "$3"
for file in "$1"/*; do
  if [ -f "$file" ]; then ln -s "$file" "$3/"; fi
done
ln -s "$(realpath "$2")" "$3/_core.abi3.so"
