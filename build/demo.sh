#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the demo graph and says what to do with what it left. make demo calls it.

set -eu
graph=graphs/demo.yaml

echo "A graph of modules, $graph, takes a capture of real traffic apart:"
echo
build/out/sluice show "$graph"
echo
build/out/sluice run "$graph"
cat <<END

The name look-ups are in build/out/demo-dns.pcap, and all the rest, sent back to where it came
from, in build/out/demo-rest.pcap:
  tcpdump -e -n -r build/out/demo-rest.pcap | head

To try next:
  build/out/sluice run $graph --set 'filter=tcp port 80'
      puts other packets into the first capture
  build/out/sluice show $graph --format svg > demo.svg
      draws the graph
  build/out/sluice modules
      lists what a graph can be made of
  build/out/sluice new-module Mine
      writes a module of your own, ready to build
The other graphs in graphs/ each say on their first lines what they show.
END
