#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the manual page: build/data/sluice.1.in with the commands and their options as the program
# tells them: manual.sh PROGRAM VERSION.

set -eu
program=$1
version=$2

# A backslash, and a dot or quote at the start of a line, mean something to roff.
roff() {
	sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
}

commands() {
	local name
	for name in $("$program" --help | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p'); do
		echo ".SS sluice $name" | roff
		echo .nf
		"$program" "$name" --help | sed -e 's|^Usage: .*sluice |Usage: sluice |' | roff
		echo .fi
	done
}

sed -e "s/@VERSION@/$version/" -e '/^@COMMANDS@$/,$d' build/data/sluice.1.in
commands
sed -e '1,/^@COMMANDS@$/d' build/data/sluice.1.in
