#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the small guest of tests and of `sluice bench --vnf-in vm` from Debian packages:
# build/guest.sh FOLDER gives FOLDER/vmlinuz, FOLDER/initrd (a shell, iperf3, ethtool) and
# FOLDER/initrd-vnf (and testpmd). The kernel and busybox are unpacked, not installed; the rest comes
# from this system. Nothing is done where all is there. Code 3, and the reason, where it cannot be.

set -u
export LC_ALL=C
[ $# = 1 ] || {
	echo "usage: build/guest.sh FOLDER" >&2
	exit 2
}
out=$1
data=$(dirname "$0")/data/guest
if [ "$out/initrd-vnf" -nt "$0" ] && [ "$out/initrd-vnf" -nt "$data/init" ]; then
	exit 0
fi
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
root=$work/root

fail() {
	echo "note: the guest cannot be built: $*" >&2
	exit 3
}

# unpack PACKAGE...: into $work/debian
unpack() {
	(cd "$work" && apt-get download -qq "$@" >log 2>&1 </dev/null) ||
		fail "$(grep -v '^W:' "$work/log" | tail -n 1)"
	for package in "$work"/*.deb; do
		dpkg -x "$package" "$work/debian" || fail "$package cannot be unpacked"
		rm "$package"
	done
}

# The kernel's package has the version in its name; another one depends on it.
kernel_package() {
	apt-cache depends linux-image-cloud-amd64 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

# put PROGRAM [NAME]: a program of this system as /bin/NAME, with the libraries that it loads
put() {
	path=$(command -v "$1") || fail "there is no $1"
	cp -L "$path" "$root/bin/${2:-$1}"
	put_libraries "$path"
}

# Each is one file, by whatever name: a driver of DPDK's that is loaded twice ends the program.
put_libraries() {
	ldd "$1" | sed -n 's/.*[ \t]\(\/[^ ]*\) (0x.*/\1/p' | while read -r file; do
		put_file "$file"
	done
}

put_file() {
	real=$(realpath "$1")
	[ -e "$root$real" ] || install -D "$real" "$root$real"
	mkdir -p "$root${1%/*}"
	[ -e "$root$1" ] || ln -s "$real" "$root$1"
}

# pack FILE
pack() {
	(cd "$root" && find . | "$work/debian/bin/busybox" cpio -o -H newc 2>/dev/null) |
		gzip -1 >"$1.new" && mv "$1.new" "$1" || fail "$1 cannot be written"
}

command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "this is no Debian"
kernel=$(kernel_package)
[ -n "$kernel" ] || fail "apt knows no package linux-image-cloud-amd64"
unpack "$kernel" busybox-static
mkdir -p "$out" "$root/bin" "$root/modules" "$root/etc"

install -m 755 "$data/init" "$root/init"
cp "$work/debian/bin/busybox" "$root/bin/busybox"
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover \
	net_failover virtio_net uio uio_pci_generic; do
	find "$work/debian/lib/modules" -name "$module.ko" -exec cp {} "$root/modules" \;
	[ -e "$root/modules/$module.ko" ] || fail "$kernel has no $module.ko"
done
# busybox's ip knows no namespaces.
put ip ip-full
put ethtool
put iperf3
cp "$work"/debian/boot/vmlinuz-* "$out/vmlinuz"
pack "$out/initrd"

# Of DPDK's drivers those that the guest has a use for: a program loads all that it finds.
put dpdk-testpmd testpmd
for driver in /usr/lib/*/dpdk/pmds-23.0/librte_net_virtio.so.23.0 \
	/usr/lib/*/dpdk/pmds-23.0/librte_bus_pci.so.23.0 \
	/usr/lib/*/dpdk/pmds-23.0/librte_bus_vdev.so.23.0 \
	/usr/lib/*/dpdk/pmds-23.0/librte_mempool_ring.so.23.0; do
	[ -e "$driver" ] || fail "there is no $driver"
	put_file "$driver"
	put_libraries "$driver"
done
pack "$out/initrd-vnf"
echo "built in $out: the guest, with $kernel"
