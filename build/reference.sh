#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes docs/reference/*.md from the program's tables: reference.sh PROGRAM DIR. make docs calls it.

set -eu
program=$1
dir=$2

mkdir -p "$dir"
for kind in modules drivers; do
	"$program" "$kind" --format markdown >"$dir/$kind.md.new"
	mv "$dir/$kind.md.new" "$dir/$kind.md"
done
