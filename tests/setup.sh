#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build/install-deps.sh with stand-ins for dpkg, apt-get and sudo: what it would do, and what it says
# when it cannot.

. tests/lib/script.sh

bin=$tmp/bin
mkdir "$bin"
for tool in sh env id sort comm sed printf cat tr grep; do
	ln -s "$(command -v "$tool")" "$bin/"
done
rm "$bin/id"

# stand_in NAME TEXT
stand_in() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}
# installed PACKAGE...
installed() {
	stand_in dpkg-query "printf 'installed %s\n' $*"
}
deps() {
	: >"$tmp/calls"
	PATH=$bin "$bin/sh" build/install-deps.sh "$@" >"$tmp/out" 2>&1 </dev/null
}

all=$(sed -n '/^build="/,/"$/p' build/install-deps.sh | sed 's/^build=//' | tr -d '"\n')
stand_in id "echo 0"
stand_in apt-cache "exit 0"
stand_in apt-get "echo \"apt-get \$*\" >>'$tmp/calls'"
stand_in sudo "echo \"sudo \$*\" >>'$tmp/calls'; [ \"\$1\" != -n ] || shift; exec \"\$@\""

installed $all
deps build
expect "nothing missing: ends well" 0 $?
expect "nothing missing: nothing is called or said" "" "$(cat "$tmp/calls" "$tmp/out")"

installed ${all/dpdk-dev/}
deps build
expect "one missing, root: ends well" 0 $?
expect "one missing, root: it is installed, without an update" 1 \
	"$(grep -c 'apt-get install .* dpdk-dev$' "$tmp/calls")"
expect "one missing, root: no update" 0 "$(grep -c update "$tmp/calls")"

stand_in apt-cache "exit 1"
deps build
expect "lists lack the package: update comes first" "apt-get update" \
	"$(head -n 1 "$tmp/calls" | grep -o 'apt-get update')"
stand_in apt-cache "exit 0"

stand_in id "echo 1000"
deps build
expect "not root: through sudo, without asking where nobody answers" 1 \
	"$(grep -c '^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install' "$tmp/calls")"

stand_in sudo "exit 1"
deps build
expect "sudo refuses: exit code" 3 $?
expect "sudo refuses: the command is shown" 1 \
	"$(grep -c 'sudo apt-get install .*dpdk-dev$' "$tmp/out")"

rm "$bin/sudo"
deps build
expect "no sudo: exit code" 3 $?
expect "no sudo: the command is shown" 1 "$(grep -c '^  apt-get install .*dpdk-dev$' "$tmp/out")"

rm "$bin/dpkg-query"
deps build
expect "no Debian: exit code" 3 $?
expect "no Debian: the packages are named" 1 "$(grep -c libyaml-dev "$tmp/out")"

# make without packages says so, and what to do.
PKG_CONFIG_LIBDIR=$tmp PKG_CONFIG_PATH='' env -u MAKEFLAGS -u MAKELEVEL make OUT="$tmp/build" \
	>"$tmp/out" 2>&1
expect "make without packages fails" 2 $?
expect "make without packages says what is missing" 1 \
	"$(grep -cE 'make setup|libdpdk.*not found' "$tmp/out" | sed 's/^[1-9].*/1/')"
exit $script_failed
