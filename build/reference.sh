#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes docs/reference/*.md from the program's tables: reference.sh PROGRAM DIR. make docs calls it,
# and make lint to see whether it was called.

set -eu
program=$1
dir=$2

# page NAME TITLE TEXT
page() {
	{
		printf '# %s\n\n' "$2"
		printf '%s `make docs` writes this page from the tables in their source.\n\n' "$3"
		"$program" "$1" --format markdown
	} >"$dir/$1.md.new"
	mv "$dir/$1.md.new" "$dir/$1.md"
}

mkdir -p "$dir"
page modules Modules "What the nodes of a graph can be."
page drivers Drivers "What the ports of a graph can be."
