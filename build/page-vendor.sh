#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches the libraries of the page anew from npm, and writes down what they are: make page-vendor.
# To take another version, change it here.

set -eu
cd "$(dirname "$0")/.."
folder=core/control/page/vendor
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
table=$folder/README.md
cat >"$table" <<'END_OF_TEXT'
# Libraries of the page

As they come from npm, unchanged; `make page-vendor` writes this folder anew. The licences are beside.

| file | package | licence | SHA-256 |
| --- | --- | --- | --- |
END_OF_TEXT

# fetch PACKAGE VERSION LICENCE-FILE FILE...
fetch() {
	local package=$1 version=$2 licence=$3 archive short file sum name
	shift 3
	short=${package##*/}
	archive=$(cd "$tmp" && npm pack --silent "$package@$version")
	rm -rf "$tmp/package"
	tar -xzf "$tmp/$archive" -C "$tmp"
	cp "$tmp/package/$licence" "$folder/$short.LICENSE.txt"
	name=$(sed -nE 's/^ *"license": *"([^"]*)".*/\1/p' "$tmp/package/package.json")
	for file; do
		cp "$tmp/package/$file" "$folder/"
		sum=$(sha256sum "$tmp/package/$file" | cut -d ' ' -f 1)
		echo "| ${file##*/} | $package $version | $name | \`$sum\` |" >>"$table"
	done
}

fetch @dagrejs/dagre 3.1.3 LICENSE dist/dagre.esm.js
fetch uplot 1.6.32 LICENSE dist/uPlot.iife.min.js dist/uPlot.min.css
chmod 644 "$folder"/*
