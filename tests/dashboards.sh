#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What docs/dashboards.md promises: the alerts fire; a real Prometheus scrapes an instance, and each
# query of the dashboard and of the rules finds what it looks for.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

dashboard=docs/grafana/sluice.json
rules=docs/prometheus/sluice.rules.yml

if command -v promtool >/dev/null; then
	run_ok "promtool finds the rules good" promtool check rules $rules
	run_ok "each alert fires when it should" promtool test rules tests/prometheus/rules.test.yml
else
	skip "the rules" "there is no promtool (build/tools.sh prometheus)"
fi
alerts=$(grep -c 'alert: ' $rules)
expect "each alert is tested" "$alerts" \
	"$(grep -oE 'alertname: \w+' tests/prometheus/rules.test.yml | sort -u | wc -l)"
if ! command -v prometheus >/dev/null; then
	skip "a scrape by Prometheus" "there is no prometheus (build/tools.sh prometheus)"
	exit $script_failed
fi

# A graph that has one of each: gates, drops, a queue that is too small, own counters, ports.
cat >"$tmp/graph.yaml" <<'END'
ports: {a: {ring: {name: opsring}}, b: {ring: {name: opsring}}}
nodes:
  make: {Source: {burst: 8}}
  tee: Tee
  q: {Queue: {size: 16, backpressure: "off"}}
  fwd: L2Fwd
  out: {PortOut: {port: a}}
  in: {PortInc: {port: b}}
graph:
  - make -> tee
  - tee[0] -> q -> fwd -> Sink
  - tee[1] -> out
  - in -> Sink
END
listen=127.0.0.1:$(port_free)
(umask 077 && echo "a-token-of-$RANDOM-and-$RANDOM" >"$tmp/token")
"$SLUICE" run "$tmp/graph.yaml" --quiet --name scraped --listen "$listen" \
	--token-file "$tmp/token" 2>"$tmp/log" &
script_pids+=($!)
socket=$SLUICE_SOCKETS/scraped.sock
if ! wait_for 30 curl -sf --unix-socket "$socket" http://sluice/; then
	not_ok "an instance starts" "$(cat "$tmp/log")"
	exit 1
fi
cp $rules "$tmp/"
cat >"$tmp/prometheus.yml" <<END
global: {scrape_interval: 500ms, evaluation_interval: 1s}
rule_files: [sluice.rules.yml]
scrape_configs:
  - job_name: sluice
    authorization: {credentials_file: $tmp/token}
    static_configs: [{targets: ["$listen"]}]
END
run_ok "promtool finds the configuration good" promtool check config "$tmp/prometheus.yml"
url=http://127.0.0.1:$(port_free)
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" \
	--web.listen-address="${url#http://}" --log.level=error >"$tmp/prometheus.log" 2>&1 &
script_pids+=($!)
if ! wait_for 30 curl -sf "$url/-/ready"; then
	not_ok "Prometheus starts" "$(tail -n 3 "$tmp/prometheus.log")"
	exit 1
fi
scraped() {
	curl -sf "$url/api/v1/query?query=sluice_graph_changes_total" | grep -q '"value"'
}
wait_for 30 scraped
# One change, so that there is one to see.
sed 's/burst: 8/burst: 4/' "$tmp/graph.yaml" >"$tmp/next.yaml"
run_ok "a change of graph meanwhile" "$SLUICE" reload "$tmp/next.yaml" --name scraped
curl -s --unix-socket "$socket" http://sluice/metrics >"$tmp/metrics"
undocumented=$(sed -n 's/^# TYPE \(sluice_[a-z_]*\) .*/\1/p' "$tmp/metrics" | while read -r metric; do
	grep -q "\`$metric\`" docs/dashboards.md || echo "$metric"
done)
expect "the guide lists each metric" "" "$undocumented"
python3 tests/lib/prometheus_check.py "$url" "$tmp/metrics" $dashboard $rules || script_failed=1
run_ok "the instance ends cleanly" "$SLUICE" stop --wait --name scraped

exit $script_failed
