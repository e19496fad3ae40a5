#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages that are missing: build/install-deps.sh GROUP...
# Quick and silent when all is there. --print only says what is missing.

set -u
export LC_ALL=C

# What each package is for stands in docs/dependencies.md.
build="gcc make pkg-config dpdk-dev libyaml-dev libjansson-dev libpcap-dev
	liblua5.4-dev lua-luv libmicrohttpd-dev libcurl4-openssl-dev libncurses-dev
	libsystemd-dev zlib1g-dev"
check="libcunit1-dev dpdk iproute2 iputils-ping ethtool iperf3 tcpdump jq graphviz bash-completion
	python3 python3-yaml python3-jsonschema python3-pyte curl zsh gnuplot-nox"
lint="clang-format clang-tidy cppcheck clang"
long="clang valgrind chromium qemu-system-x86"
# Where these come from elsewhere than Debian, its packages would not go with them.
command -v node >/dev/null || long="$long nodejs"
command -v npm >/dev/null || long="$long npm"
record="iproute2 iputils-ping ethtool tcpdump dnsmasq-base curl python3"

usage() {
	echo "usage: build/install-deps.sh [--print] build|check|lint|long|record|all..." >&2
	exit 2
}

only_print=no
wanted=
for word; do
	case $word in
	--print) only_print=yes ;;
	build) wanted="$wanted $build" ;;
	check) wanted="$wanted $check" ;;
	lint) wanted="$wanted $lint" ;;
	long) wanted="$wanted $long" ;;
	record) wanted="$wanted $record" ;;
	all) wanted="$wanted $build $check $lint $long" ;;
	*) usage ;;
	esac
done
[ -n "$wanted" ] || usage

wanted=$(printf '%s\n' $wanted | sort -u)
if ! command -v dpkg-query >/dev/null; then
	echo "error: this is no Debian (there is no dpkg), so nothing can be installed for you." >&2
	echo "Sluice needs what Debian 12 calls:" $wanted >&2
	echo "When all of it is there, \`make SETUP=no demo\` goes on without this step." >&2
	exit 3
fi

# The names among $wanted that dpkg does not hold as installed.
find_missing() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
		sed -n 's/^installed //p' | sort -u |
		comm -13 - /dev/fd/3 3<<-END
			$wanted
		END
}

missing=$(find_missing)
[ -n "$missing" ] || exit 0
missing=$(echo $missing)
if [ $only_print = yes ]; then
	echo "$missing"
	exit 0
fi

command="apt-get install --yes --no-install-recommends $missing"
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "error: packages are missing and there is no sudo. As root, run" >&2
		echo "  $command" >&2
		exit 3
	fi
	as_root=sudo
	# Without a terminal sudo could only fail or wait for ever.
	[ -t 0 ] || as_root="sudo -n"
fi

install() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq \
		--no-install-recommends -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 $missing \
		</dev/null
}

update() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
}

# Whether apt knows every missing package, so that its lists need not be fetched first.
known() {
	apt-cache show $missing >/dev/null 2>&1
}

echo "installing: $missing"
if { known || update; } && { install || { update && install; }; }; then
	exit 0
fi
echo "error: the packages could not be installed. Run this by hand, and see what it says:" >&2
echo "  ${as_root:+sudo }apt-get update && ${as_root:+sudo }$command" >&2
exit 3
