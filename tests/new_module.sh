#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice new-module from the build tree: what it writes builds and passes; what it refuses.

. tests/lib/script.sh

case $VARIANT in
asan) sanitizers=-fsanitize=address,undefined ;;
tsan) sanitizers=-fsanitize=thread ;;
*) sanitizers= ;;
esac
cd "$tmp" || exit 1

run_ok "a module is written into a folder of its name" "$SLUICE" new-module TtlGuard
expect "its files" "Makefile ttlguard.c ttlguard.test.yaml ttlguard.yaml" \
	"$(ls ttlguard | tr '\n' ' ' | sed 's/ $//')"
make_in() {
	env -u MAKEFLAGS -u MAKELEVEL -u SLUICE make -C "$1" test CC="$CC" \
		CFLAGS="$sanitizers -Werror" LDFLAGS="$sanitizers"
}
run_ok "it builds and passes" make_in ttlguard
clang_likes() {
	clang -std=gnu2x -Wall -Wextra -Werror -D_GNU_SOURCE -DALLOW_EXPERIMENTAL_API \
		-fsyntax-only -iquote "$1" $(pkg-config --cflags libdpdk) ttlguard/ttlguard.c
}
if command -v clang >/dev/null; then
	run_ok "it builds without a warning of clang" clang_likes "$OLDPWD/core"
else
	skip "it builds without a warning of clang" "there is no clang"
fi
run_ok "a name that is also a word of C is no trouble" "$SLUICE" new-module Int --dir sub
run_ok "it builds too" make_in sub

# refuse CODE TEXT ARGUMENT...
refuse() {
	local code=$1 text=$2
	shift 2
	"$SLUICE" new-module "$@" >"$tmp/out" 2>&1
	expect "new-module $*: exit code" "$code" $?
	if grep -qF -- "$text" "$tmp/out"; then
		ok "new-module $*: message"
	else
		not_ok "new-module $*: message" "$(head -n 1 "$tmp/out")"
	fi
}
cp -r ttlguard before
refuse 2 "ttlguard/ttlguard.c is there already" TtlGuard
expect "files that are there stay as they are" "" "$(diff -r before ttlguard)"
refuse 2 "there is a module" MACSwap
refuse 2 "there is a module" MacSwap
for name in guard Guard-1 G ../Guard "" Ünder "$(printf 'A%.0s' {1..25})"; do
	refuse 2 "is no name for a module" "$name"
done
refuse 2 "the NAME of the module is missing"
refuse 2 "is a second" One Two
touch file
refuse 3 "file" Other --dir file/sub
exit $script_failed
