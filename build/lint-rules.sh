#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The project's own rules, which no tool knows. Prints FILE:LINE: what is wrong; make lint calls it.

set -u
: "${OUT:=build/out}"
shopt -s nullglob
code=$(find core modules drivers tests lua build -path build/out -prune -o -name '*.[ch]' -print 2>/dev/null | sort)
text="Makefile .ci/run $(find build tests lua -path build/out -prune -o \( -name '*.sh' -o -name '*.mk' \) -print 2>/dev/null)"
modules=(modules/*.c)
drivers=(drivers/*.c)
engine=(core/*.[ch] core/*/*.[ch])

# The licence: one line, the first of a file, or the second after #!.
rule_licence() {
	local file
	for file in $code $text core/control/page/*.{js,css} tests/page/*.mjs; do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause$' ||
			echo "$file:1: no line with SPDX-License-Identifier: BSD-3-Clause"
	done
}

# Lengths, and things left behind.
rule_text() {
	awk '
	function say(text) { print FILENAME ":" FNR ": " text }
	function width(line,  i, at) {
		for (i = 1; i <= length(line); i++)
			at += substr(line, i, 1) == "\t" ? 8 - at % 8 : 1
		return at
	}
	FNR == 1 { start = 0 }
	length($0) > 40 && width($0) > 100 { say("a line of " width($0) " columns; 100 is the most") }
	FNR == 1 { test = FILENAME ~ /^tests\//; lines = test ? 450 : 410; most = test ? 75 : 55 }
	FNR == lines + 1 { say("a file of more than " lines " lines; about 400 is the most") }
	/^{/ { start = FNR }
	/^}/ {
		if (start && FNR - start > most)
			say("a function of " FNR - start " lines; about 50 is the most")
		start = 0
	}
	/(^|[^A-Za-z_])(TODO|FIXME|XXX|HACK)([^A-Za-z_]|$)/ { say("a note of something undone") }
	/^[ \t]*#[ \t]*if[ \t]+0/ { say("code that is switched off") }
	/^[ \t]*\/\/ *[A-Za-z_][A-Za-z0-9_>.*\[\]-]* ?([-+|&*]?=|\().*[;{]$/ { say("code in a comment") }
	/^[ \t]*\/\/ *(}|(if|for|while|return|else|goto|break|continue)[ ;(].*[;{]$)/ {
		say("code in a comment")
	}
	/^[ \t]*\/\*/ { say("a comment in the old form; // is the form here") }
	' $code
}

# Modules and drivers see the public headers, and of others of ours only parts of themselves.
rule_includes() {
	local file line include header
	grep -HnE '^#include "' "${modules[@]}" "${drivers[@]}" /dev/null |
		while IFS=: read -r file line include; do
			header=${include#*\"}
			header=${header%\"}
			[ -e "core/$header" ] && [[ $header != */* ]] ||
				[ -e "$(dirname "$file")/$header" ] ||
				echo "$file:$line: $include: that is no public header"
		done
}

# Names at file scope start with the name of the file.
rule_names() {
	awk '
	FNR == 1 {
		stem = FILENAME
		sub(/.*\//, "", stem)
		sub(/[_.].*/, "", stem)
	}
	function check(word) {
		if (index(tolower(word), stem) != 1)
			print FILENAME ":" FNR ": \"" word "\" does not start with \"" stem "\""
	}
	/^(struct|union|enum) [a-z_0-9]+ \{/ { check($2) }
	/^static / {
		line = $0
		gsub(/__attribute__\(\([a-z_0-9]+(\([^)]*\))?\)\)/, "", line)
		sub(/[([=;,].*/, "", line)
		sub(/ *$/, "", line)
		count = split(line, words, /[ *]+/)
		check(words[count])
	}
	' "${modules[@]}" "${drivers[@]}" /dev/null
}

# No mutable state of the process: nothing of a module or driver is in a writable section but the
# type and its entry in the list (crc32_alg comes with a header of DPDK's; the callbacks of its
# vhost library bear a path and nothing of ours, so vhost_links says whose it is).
rule_state() {
	local source object types
	for source in "${modules[@]}" "${drivers[@]}"; do
		object=$OUT/obj/${source%.c}.o
		[ -e "$object" ] || continue
		types=$(sed -nE 's/^(MODULE|DRIVER)\((.*)\)$/\2|\2_entry/p' "$source" |
			paste -sd '|')
		objdump -t "$object" | tr -s ' \t' ' ' |
			awk 'NF > 3 {section = $(NF - 2); name = $NF}
				section ~ /^\.t?(data|bss)/ && section !~ /^\.data\.rel\.ro/ &&
				name != section {print name}' |
			grep -vxE "crc32_alg|vhost_links|${types:-none}" |
			sed "s|^|$source: state of the whole process: |"
	done
}

# The engine names no module and no driver.
rule_engine() {
	local names
	names=$(sed -nE 's/^\t\.name = "([A-Z][A-Za-z0-9]+)",$/\1/p' "${modules[@]}" /dev/null |
		paste -sd '|')
	[ -n "$names" ] || return
	sed -E 's|//.*||' "${engine[@]}" | grep -qwE "$names" || return
	grep -HnwE "$names" "${engine[@]}" | grep -vE "//.*($names)" |
		sed 's/$/: the engine names a module/'
}

# The README shows the module as it is.
rule_readme() {
	awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' README.md | cmp -s - modules/macswap.c ||
		echo "README.md: its module is not modules/macswap.c as it is"
}

# Each example says on its first line what it shows, and each file that docs point to is there.
rule_docs() {
	local file link
	for file in graphs/*.yaml; do
		head -n 1 "$file" | grep -q "^# $file: " ||
			echo "$file:1: should begin with \"# $file: \""
	done
	for file in README.md docs/*.md; do
		grep -oE '\]\([^)#:]+' "$file" | sed 's/^](//' | while read -r link; do
			[ -e "$(dirname "$file")/$link" ] || echo "$file: there is no $link"
		done
	done
}

# The reference in docs/ is what the program says of itself.
rule_reference() {
	local fresh=$OUT/reference
	[ -x "$OUT/sluice" ] || return
	build/reference.sh "$OUT/sluice" "$fresh"
	diff -rq docs/reference "$fresh" >/dev/null ||
		echo "docs/reference: not what the tables say now; \`make docs\` writes it anew"
}

found=$(
	rule_licence
	rule_text
	rule_includes
	rule_names
	rule_state
	rule_engine
	rule_readme
	rule_docs
	rule_reference
)
[ -z "$found" ] || {
	echo "$found"
	exit 1
}
