#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice doctor and sluice version: that what they say is so, and follows what changes.

. tests/lib/script.sh

finding() {
	jq -r ".[] | select(.name == \"$1\") | .$2"
}

"$SLUICE" doctor --json >"$tmp/all.json" 2>"$tmp/out"
expect "doctor ends well on a machine that runs these tests" 0 $?
expect "every finding has a name, a state and a text" true "$(jq 'all(.[];
	(.name | length > 0) and (.finding | length > 0) and
	(.state == "ok" or .state == "note" or .state == "missing"))' "$tmp/all.json")"
expect "what is not ok has its fix" true \
	"$(jq 'all(.[]; .state == "ok" or (.fix | length > 0))' "$tmp/all.json")"
expect "cores" "$(nproc)" "$(finding cores finding <"$tmp/all.json" | grep -o '^[0-9]*')"
expect "one core" note "$(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" \
	"$SLUICE" doctor --json | finding cores state)"
expect "open files" "open files: 300; graphs with many ports need more" \
	"$(ulimit -S -n 300 && "$SLUICE" doctor --json | finding nofile finding)"
expect "locked memory" note \
	"$(ulimit -S -l 64 && "$SLUICE" doctor --json | finding memlock state)"
expect "text and JSON say the same" "$(jq -r '.[].finding' "$tmp/all.json" | wc -l)" \
	"$("$SLUICE" doctor | grep -cE '^(ok|note|missing) ')"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	expect "without capabilities" note "$(setpriv --reuid 65534 --clear-groups \
		--inh-caps=-all "$SLUICE" doctor --json 2>&1 | finding net_admin state)"
else
	skip "without capabilities" "not root"
fi
"$SLUICE" doctor --jsn >"$tmp/out" 2>&1
expect "an unknown option is bad input" 2 $?

"$SLUICE" version --json >"$tmp/version.json"
expect "version: DPDK runs as built" true \
	"$(jq '.dpdk.built_with == .dpdk.running_with' "$tmp/version.json")"
expect "version: DPDK" "$(pkg-config --modversion libdpdk)" \
	"$(jq -r .dpdk.running_with "$tmp/version.json")"
expect "version: flags" 1 "$(jq -r .flags "$tmp/version.json" | grep -c -- ' -std=gnu2x ')"
# -march=native comes last, so what this processor can do was allowed to the compiler.
if grep -qw avx2 /proc/cpuinfo && jq -r .flags "$tmp/version.json" | grep -q -- -march=native; then
	expect "version: AVX2 is not silently off" true \
		"$(jq '.instructions | index("avx2") != null' "$tmp/version.json")"
else
	skip "version: AVX2 is not silently off" "no AVX2 here, or not built for this machine"
fi
exit $script_failed
