#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make install to a folder of its own: what is there, whether it works from there, with nothing of
# the source tree; then make uninstall.

. tests/lib/script.sh

root=$PWD
prefix=$tmp/usr
sanitizers=
case $VARIANT in
asan) sanitizers=-fsanitize=address,undefined ;;
tsan) sanitizers=-fsanitize=thread ;;
esac
make_here() {
	env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory CC="$CC" VARIANT="$VARIANT" \
		PREFIX="$prefix" "$@"
}

run_ok "make install" make_here install || exit 1
sluice=$prefix/bin/sluice
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cd "$tmp" || exit 1
expect "no libraries are needed for modules" "" "$(pkg-config --libs sluice | tr -d ' ')"
expect "headers are found" 1 "$(pkg-config --cflags sluice | grep -c "$prefix/include/sluice")"
expect "DPDK's headers are found" 1 "$(pkg-config --cflags sluice | grep -c rte_config.h)"
expect "the manual has all commands" "" "$(for word in $("$sluice" --help |
	sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p'); do
	grep -qF "sluice ${word//-/\\-}" "$prefix/share/man/man1/sluice.1" || echo "$word"
done)"
if command -v man >/dev/null; then
	expect "the manual is well formed" "" \
		"$(LC_ALL=C MANROFFSEQ='' man --warnings -l -Tutf8 \
			"$prefix/share/man/man1/sluice.1" 2>&1 >/dev/null)"
else
	skip "the manual is well formed" "there is no man"
fi
run_ok "an installed example runs elsewhere" \
	"$sluice" run --quiet "$prefix/share/sluice/graphs/demo.yaml"
run_ok "an installed script runs elsewhere" \
	"$sluice" run --quiet "$prefix/share/sluice/graphs/mix.lua"
expect "it writes where one stands" yes "$([ -s demo-rest.pcap ] && echo yes)"

# A module of one's own, built from the installed headers alone.
run_ok "a new module is written" "$sluice" new-module TtlGuard
cd ttlguard || exit 1
expect "its Makefile knows nothing of the source tree" 0 "$(grep -c "$root" Makefile)"
run_ok "the new module builds and passes" env -u MAKEFLAGS -u MAKELEVEL -u SLUICE make test \
	CC="$CC" CFLAGS="$sanitizers" LDFLAGS="$sanitizers"
sed -i 's/out: {right: \[\]}/out: {right: ["ether \/ ipv4 \/ udp \/ pad 101"]}/' ttlguard.test.yaml
if env -u MAKEFLAGS -u MAKELEVEL -u SLUICE make test CC="$CC" >"$tmp/out" 2>&1; then
	not_ok "a wrong expectation fails" "make test passed"
else
	ok "a wrong expectation fails"
fi
cd "$OLDPWD" || exit 1

if [ -r /usr/share/bash-completion/bash_completion ]; then
	complete_words() {
		bash --norc -c '. /usr/share/bash-completion/bash_completion
			. "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"
			COMP_POINT=${#COMP_LINE}; _sluice; printf "%s\n" "${COMPREPLY[@]}"' \
			"$prefix/share/bash-completion/completions/sluice" "$@" 2>&1
	}
	expect "completion of commands" doctor "$(complete_words "$sluice" doc)"
	expect "completion of modules" MACSwap "$(complete_words "$sluice" modules MACS)"
	expect "completion of options" --json "$(complete_words "$sluice" doctor --j)"
	expect "completion of vars" filter= "$(complete_words "$sluice" run \
		"$prefix/share/sluice/graphs/demo.yaml" --set f)"
	cat >live.yaml <<-'END'
		nodes: {make: Source, fwd: L2Fwd}
		graph: ["make -> fwd -> Sink"]
	END
	background "$sluice" run live.yaml --quiet
	wait_for 30 "$sluice" ps
	expect "completion of instances" live "$(complete_words "$sluice" stats --name l)"
	expect "completion of a running graph's nodes" make "$(complete_words "$sluice" stats m)"
	expect "completion of its commands" flush "$(complete_words "$sluice" call fwd fl)"
	expect "completion of their arguments" mac= "$(complete_words "$sluice" call fwd add m)"
	"$sluice" stop --wait
	rm live.yaml
else
	skip "completion" "there is no bash-completion"
fi

cd "$root" || exit 1
run_ok "make uninstall" make_here uninstall
expect "nothing is left" "" "$(find "$prefix" ! -type d)"
exit $script_failed
