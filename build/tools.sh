#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Brings Debian packages for tests without installing them: build/tools.sh PACKAGE...
# Those of Prometheus and InfluxDB start a service when they are installed. Here they are unpacked
# into build/out/tools, where tests look after PATH; nothing is started, and no right is needed.
# Without a network the tests say that they are skipped: this never fails.

set -u
export LC_ALL=C
tools=build/out/tools

# The program that a package is wanted for, and the version that the tests were written for.
for package; do
	case $package in
	prometheus) program=prometheus version='2.42.*' ;;
	influxdb) program=influxd version='1.6.7*' ;;
	*)
		echo "usage: build/tools.sh prometheus|influxdb..." >&2
		exit 2
		;;
	esac
	if command -v $program >/dev/null || [ -x $tools/usr/bin/$program ]; then
		continue
	fi
	folder=$(mktemp -d) || exit 0
	if (cd "$folder" && apt-get download -qq "$package=$version" >log 2>&1 </dev/null) &&
		mkdir -p $tools && dpkg -x "$folder"/$package*.deb $tools; then
		echo "unpacked into $tools: $package"
	else
		echo "note: $package cannot be had, and its tests are skipped:" \
			"$(tail -n 1 "$folder/log" 2>/dev/null)" >&2
	fi
	rm -rf "$folder"
done
exit 0
