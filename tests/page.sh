#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page: how it is served; its parts by `node --test`; and, of make check-long, all of it in a
# real Chromium.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cat >"$tmp/web.yaml" <<'EOF'
nodes: {make: {Source: {burst: 1}}, q: {Queue: {size: 512}}, cls: {Filter: {expression: udp}}}
graph: ["make -> q -> cls -> Sink"]
EOF
"$SLUICE" run "$tmp/web.yaml" --quiet --name web 2>"$tmp/web.log" </dev/null &
script_pids+=($!)

# ask PATH CURL-OPTION...
ask() {
	local path=$1
	shift
	curl -s --max-time 20 --unix-socket "$SLUICE_SOCKETS/web.sock" "$@" "http://sluice$path"
}

# kind PATH CURL-OPTION...: status and type of an answer.
kind() {
	ask "$@" -o /dev/null -w '%{http_code} %{content_type}'
}
wait_for 30 ask / -f

# How it is served.
expect "the page" "200 text/html; charset=utf-8" "$(kind /page)"
expect "the page at /, for a browser" "200 text/html; charset=utf-8" \
	"$(kind / -H 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')"
expect "JSON at /, for others" "200 application/json" "$(kind /)"
expect "JSON at /, for who would rather have it" "200 application/json" \
	"$(kind / -H 'Accept: text/html;q=0.5, application/json')"
expect "no part of the page" "404 application/json" "$(kind /page/none.js)"
expect "no way out of its folder" "404 application/json" "$(kind /page/%2e%2e/routes.c)"
ask /page -D "$tmp/head" -o "$tmp/page"
expect "as it is in the tree" 0 "$(cmp "$tmp/page" core/control/page/index.html >/dev/null; echo $?)"
says "a policy that lets nothing come from elsewhere" "$tmp/head" \
	"^Content-Security-Policy: default-src 'self'; "
tag=$(sed -nE 's/^ETag: ("[0-9a-f]+").*/\1/p' "$tmp/head")
expect "what is known is not sent again" "304 0" \
	"$(ask /page -H "If-None-Match: $tag" -o /dev/null -w '%{http_code} %{size_download}')"
ask /page/vendor/dagre.esm.js -H 'Accept-Encoding: gzip' | gzip -dc >"$tmp/dagre"
expect "packed" 0 "$(cmp "$tmp/dagre" core/control/page/vendor/dagre.esm.js; echo $?)"
answers=
for file in core/control/page/*.{js,css,html,svg} core/control/page/vendor/*.{js,css}; do
	answers+=$(kind "/page/${file#core/control/page/}")" "
done
expect "each part has its type" "" "$(echo "$answers" |
	sed -E 's,200 (text/(javascript|css|html); charset=utf-8|image/svg\+xml) ,,g')"
grep -oE '(src|href)="/page/[^"]*"|from "\./[^"]*"' core/control/page/*.{html,js} |
	sed -E 's,.*"(/page/|\./)([^"]*)"$,\2,' | sort -u >"$tmp/parts"
missing=
while read -r file; do
	[ -e "core/control/page/$file" ] || missing+="$file "
done <"$tmp/parts"
expect "what it asks for is there" "" "$missing"
expect "nothing of it is elsewhere" "" "$(grep -lE '(src|href|url|import|from|fetch)[^a-z]*https?://' \
	core/control/page/*.{html,css,js})"
ask /nodes/q -o "$tmp/out"
holds "a node's values" '.values.size == "512" and .room == 512 and .workers == [0]'
ask /nodes/cls -o "$tmp/out"
holds "a node's gates" '.ogates == ["match", "miss"] and .igates == [null]'
sums=$(sed -nE 's/^\| ([^ ]+) \|.*`([0-9a-f]{64})` \|$/\2  \1/p' core/control/page/vendor/README.md)
expect "the libraries are what their list says" 0 \
	"$(cd core/control/page/vendor && sha256sum --check --quiet --strict <<<"$sums" >&2; echo $?)"
expect "the list has all of them" "$(ls core/control/page/vendor/*.{js,css} | wc -l)" \
	"$(wc -l <<<"$sums")"

# Its parts.
if ! command -v node >/dev/null; then
	skip "the parts of the page" "there is no node (Debian: nodejs)"
	exit $script_failed
fi
wrong=
for file in core/control/page/*.js tests/page/*.mjs; do
	node --check "$file" 2>"$tmp/err" || wrong+="$file: $(head -n 5 "$tmp/err") "
done
expect "JavaScript that can be read" "" "$wrong"
node --test --test-reporter=tap tests/page/*.test.mjs >"$tmp/tap" 2>&1
code=$?
sed -nE 's/^ok [0-9]+ - (.*)/ok \1/p; s/^not ok [0-9]+ - (.*)/not ok \1: see below/p' "$tmp/tap"
[ $code = 0 ] || not_ok "the parts of the page" "$(grep -A 25 '^not ok' "$tmp/tap" | head -n 60)"

# All of it, in a browser.
export CHROMIUM
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$LONG" ]; then
	skip "the page in a browser" "this is for make check-long"
elif [ -z "$CHROMIUM" ]; then
	skip "the page in a browser" "there is no chromium (Debian: chromium)"
elif ! command -v npm >/dev/null; then
	skip "the page in a browser" "there is no npm (Debian: npm)"
else
	folder=$OUT/page-tests
	mkdir -p "$folder"
	if ! cmp -s tests/page/package-lock.json "$folder/installed.json"; then
		cp tests/page/package.json tests/page/package-lock.json "$folder"
		npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >"$tmp/npm" 2>&1 </dev/null &&
			cp tests/page/package-lock.json "$folder/installed.json"
	fi
	if ! cmp -s tests/page/package-lock.json "$folder/installed.json"; then
		skip "the page in a browser" "npm ci: $(tail -n 2 "$tmp/npm" | tr '\n' ' ')"
	else
		node tests/page/browser.mjs "$folder" || script_failed=1
	fi
fi

exit $script_failed
