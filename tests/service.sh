#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run as a service: what it tells the service manager, its logs, its unit.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

mkdir "$tmp/manager" "$tmp/logs"
python3 tests/lib/service.py "$SLUICE" "$tmp/manager" || script_failed=1

# /dev/log and the journal's socket are made in a namespace of their own, beside what is there.
cat >"$tmp/namespace.sh" <<'END'
mkdir "$1/dev"
mount --rbind /dev "$1/dev" && mount -t tmpfs none /dev && mount -t tmpfs none /run || exit 77
for file in "$1"/dev/*; do
	[ "${file##*/}" = log ] || ln -s "$file" /dev/
done
exec python3 tests/lib/log_peer.py "$SLUICE" "$1"
END
private="unshare --mount"
[ "$(id -u)" = 0 ] || private="unshare --mount --map-root-user"
$private bash "$tmp/namespace.sh" "$tmp/logs" 2>"$tmp/err"
case $? in
0) ;;
77) skip "syslog and the journal" "this needs a mount namespace" ;;
*)
	if $private true 2>/dev/null; then
		script_failed=1
		not_ok "syslog and the journal" "$(tail -n 3 "$tmp/err")"
	else
		skip "syslog and the journal" "this needs a mount namespace"
	fi
	;;
esac
code "no such log" 2 "$SLUICE" run "$tmp/none.yaml" --log=jurnal
says "no such log: a near one" "$tmp/err" '"jurnal" is none of stderr, syslog, journal; did you mean "journal"'
code "no such level" 2 "$SLUICE" run "$tmp/none.yaml" --log-level=loud

# The unit, with this program in place of the installed one.
if command -v systemd-analyze >/dev/null; then
	mkdir "$tmp/units" "$tmp/bin"
	ln -s "$SLUICE" "$tmp/bin/sluice"
	sed "s|@PREFIX@|$tmp|" build/data/sluice@.service >"$tmp/units/sluice@.service"
	code "systemd finds the unit good" 0 systemd-analyze verify --man=no \
		"$tmp/units/sluice@web.service"
	expect "and says nothing of it" "" "$(cat "$tmp/out" "$tmp/err")"
	systemd-analyze security --offline=true --no-pager "$tmp/units/sluice@web.service" \
		>"$tmp/out" 2>&1
	says "its sandbox is closed as far as it goes" "$tmp/out" \
		'Overall exposure level .*: \([0-3]\.[0-9] OK\|4\.[0-9] OK\)'
else
	skip "the unit" "there is no systemd-analyze"
fi

exit $script_failed
