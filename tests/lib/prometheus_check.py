#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a Prometheus that scrapes an instance: prometheus_check.py URL METRICS DASHBOARD RULES.
Every query of the dashboard and every rule must name metrics and labels that METRICS, a page of
the instance's, has, and find something. Prints `ok`, `not ok` and `skipped` lines."""

import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

DEADLINE = time.monotonic() + 60
failed = False


def ask(base, path, **parameters):
    url = f"{base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            answer = json.load(reply)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
    assert answer["status"] == "success", f"{answer.get('error')} in {parameters}"
    return answer["data"]


def say(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)


def finds(base, query):
    """What a query comes to, once it finds something; the last answer when it never does."""
    while True:
        result = ask(base, "query", query=query)["result"]
        if result or time.monotonic() > DEADLINE:
            return result
        time.sleep(0.2)


def metrics_read(path):
    """The labels of each metric of a page."""
    labels = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"(\w+)(?:\{(.*)\})? ", line):
                names = re.findall(r'(\w+)="', match[2] or "")
                labels.setdefault(match[1], set()).update(names)
            elif match := re.match(r"# TYPE (\w+) ", line):
                labels.setdefault(match[1], set())
    return labels


def names_wrong(query, labels):
    """Metrics and labels of a query that no page has. Those of Prometheus are there always."""
    wrong = []
    for name, selector in re.findall(r"(?<![\w:])(sluice_\w+)(?:\{([^}]*)\})?", query):
        if name not in labels:
            wrong.append(name)
            continue
        for label in re.findall(r"(\w+) *(?:=~|!=|!~|=)", selector):
            if labels[name] and label not in labels[name] | {"instance", "job"}:
                wrong.append(f"{name}{{{label}}}")
    return wrong


def queries_of(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]


def legends_wrong(dashboard, base):
    """Legends name labels that the panel's series have."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            series = ask(base, "query", query=filled(target["expr"]))["result"]
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                if series and label not in series[0]["metric"]:
                    yield f"{panel['title']}: {label}"


def filled(query):
    """A query with Grafana's variables as Grafana would fill them."""
    query = query.replace("$__rate_interval", "30s")
    return re.sub(r"\$(instance|node)\b", ".*", query)


def rules_of(path):
    with open(path, encoding="utf-8") as file:
        for group in yaml.safe_load(file)["groups"]:
            for rule in group["rules"]:
                name = rule.get("record") or "alert:" + rule["alert"]
                yield name, rule["expr"].replace("[1m]", "[30s]").replace("[5m]", "[30s]")


def check(base, name, query, labels):
    wrong = names_wrong(query, labels)
    if wrong:
        say(name, False, f"no such metric or label: {', '.join(wrong)}")
    elif name.startswith("rule alert:"):
        # Whether something is wrong is not said here, only that it can be asked.
        ask(base, "query", query=query)
        say(name, True)
    else:
        say(name, bool(finds(base, query)), f"{query} finds nothing")


def main():
    base, metrics, dashboard_path, rules = sys.argv[1:]
    labels = metrics_read(metrics)
    with open(dashboard_path, encoding="utf-8") as file:
        dashboard = json.load(file)
    made = finds(base, 'rate(sluice_node_in_packets_total{node="q"}[5s]) > 0')
    say("Prometheus scrapes an instance, and sees packets pass", bool(made), "no rate is above 0")
    for name, query in queries_of(dashboard):
        check(base, f"dashboard: {name}", filled(query), labels)
    wrong = list(legends_wrong(dashboard, base))
    say("dashboard: legends name labels that are there", not wrong, ", ".join(wrong))
    for name, query in rules_of(rules):
        check(base, f"rule {name}", query, labels)
    bad = [rule["name"] for group in ask(base, "rules")["groups"] for rule in group["rules"]
           if rule["health"] == "err"]
    say("Prometheus has loaded the rules, and none fails", not bad, ", ".join(bad))
    sys.exit(failed)


main()
