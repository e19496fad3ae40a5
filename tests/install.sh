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

# Completion asks the program, and the program the instance that runs.
cat >live.yaml <<'END'
nodes: {make: Source, fwd: L2Fwd}
graph: ["make -> fwd -> Sink", "fwd[1] -> Discard"]
END
background "$sluice" run live.yaml --quiet
wait_for 30 "$sluice" ps
if [ -r /usr/share/bash-completion/bash_completion ]; then
	# What Tab makes of words, split as bash splits them.
	complete_words() {
		bash --norc -c '. /usr/share/bash-completion/bash_completion
			. "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"
			COMP_LINE=${COMP_LINE// = /=}; COMP_LINE=${COMP_LINE// =/=}
			COMP_POINT=${#COMP_LINE}; _sluice; printf "%s\n" "${COMPREPLY[@]}"' \
			"$prefix/share/bash-completion/completions/sluice" "$@" 2>&1 | paste -sd ' '
	}
	expect "bash: commands" doctor "$(complete_words "$sluice" doc)"
	expect "bash: modules" MACSwap "$(complete_words "$sluice" modules MACS)"
	expect "bash: options" --json "$(complete_words "$sluice" doctor --j)"
	expect "bash: options of what runs" "--json --name" "$(complete_words "$sluice" export -- |
		tr ' ' '\n' | grep -e json -e name | paste -sd ' ')"
	expect "bash: vars" filter= "$(complete_words "$sluice" run \
		"$prefix/share/sluice/graphs/demo.yaml" --set f)"
	expect "bash: files" "$prefix/share/sluice/graphs/demo.yaml" \
		"$(complete_words "$sluice" diff "$prefix/share/sluice/graphs/demo.y")"
	expect "bash: formats" svg "$(complete_words "$sluice" show --format s)"
	expect "bash: instances" live "$(complete_words "$sluice" stats --name l)"
	expect "bash: instances behind =" live "$(complete_words "$sluice" stats --name = l)"
	expect "bash: nodes" make "$(complete_words "$sluice" stats m)"
	expect "bash: nodes with commands" fwd "$(complete_words "$sluice" call "")"
	expect "bash: commands of a node" flush "$(complete_words "$sluice" call fwd fl)"
	expect "bash: arguments" mac= "$(complete_words "$sluice" call fwd add m)"
	expect "bash: arguments not given yet" "gate= vlan=" \
		"$(complete_words "$sluice" call fwd add mac = 02:00:00:00:00:01 "")"
	expect "bash: values" true "$(complete_words "$sluice" call fwd flush static = t)"
	expect "bash: gates" "0 1" "$(complete_words "$sluice" call --name live fwd add gate =)"
else
	skip "bash completion" "there is no bash-completion"
fi
if command -v zsh >/dev/null; then
	while IFS='|' read -r name line wanted; do
		echo "$line" >&3
		echo "$name|$wanted" >&4
	done 3>lines 4>wanted <<-END
		commands|sluice doc|sluice doctor 
		modules|sluice modules MACS|sluice modules MACSwap 
		options|sluice doctor --j|sluice doctor --json 
		vars|sluice run $prefix/share/sluice/graphs/demo.yaml --set f|sluice run $prefix/share/sluice/graphs/demo.yaml --set filter=
		files|sluice diff usr/share/sluice/graphs/dem|sluice diff usr/share/sluice/graphs/demo.yaml 
		formats|sluice show --format s|sluice show --format svg 
		instances|sluice stats --name l|sluice stats --name live 
		nodes|sluice stats m|sluice stats make 
		commands of a node|sluice call fwd fl|sluice call fwd flush 
		arguments|sluice call fwd add m|sluice call fwd add mac=
		values|sluice call fwd flush static=t|sluice call fwd flush static=true 
	END
	PATH=$prefix/bin:$PATH timeout 60 zsh -f "$root/tests/lib/complete.zsh" \
		"$prefix/share/zsh/site-functions" <lines >got
	while IFS='|' read -r name wanted && IFS= read -r got <&3; do
		expect "zsh: $name" "$wanted" "$got"
	done <wanted 3<got
	expect "zsh: every line was completed" "$(wc -l <wanted)" "$(wc -l <got)"
else
	skip "zsh completion" "there is no zsh"
fi
"$sluice" stop --wait
expect "no instance: no nodes" "" "$("$sluice" complete stats "" 2>&1)"
expect "no such command: no words" "" "$("$sluice" complete none "" 2>&1)"
expect "no words: the commands" run "$("$sluice" complete | sed -n '1s/\t.*//p')"
rm -f live.yaml lines wanted got

cd "$root" || exit 1
run_ok "make uninstall" make_here uninstall
expect "nothing is left" "" "$(find "$prefix" ! -type d)"
exit $script_failed
