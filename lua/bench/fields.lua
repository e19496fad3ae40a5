-- SPDX-License-Identifier: BSD-3-Clause
-- What records of results have: one table, from which records are checked, written in this order,
-- and described to others (docs/bench-results.schema.json).

local fields = {}

fields.version = 1

-- A row: name, type, help. Types: text, integer, number, boolean, map (anything by name), a list
-- `{list = type}`, one of some words `{words = {...}}`, or a table of rows. `null`: it may be
-- absent, and is then written as null.
local function row(name, type_, help, null)
  return {name = name, type = type_, help = help, null = null}
end
local function maybe(name, type_, help) return row(name, type_, help, true) end

local summary = {
  row("median", "number", "the figure to quote"), row("min", "number", "the smallest"),
  row("max", "number", "the greatest"), row("n", "integer", "how many trials it is of"),
}

local switch = {
  row("name", "text", "sluice, testpmd, ovs, ..."),
  maybe("version", "text", "what it says of itself"),
}

local hiccups = {
  row("n", "integer", "gaps in the polling loop of the traffic above max(20 us, 4 x its median)"),
  row("sum_us", "number", "all of them"), row("longest_us", "number", "the longest"),
}

local drops = {list = {
  row("hop", "text", "where: the port or ring, as in `switch to vnf 1`"),
  row("frames", "integer", "how many"),
}}

-- What was measured: the same in trial, result, latency.
local cell = {
  row("test", "text", "the cell: scenario, direction, size, wire, vnf, switch"),
  maybe("suite", "text", "the suite it belongs to"),
  row("scenario", {words = {"p2p", "p2v", "v2v", "loopback"}}, "how ports and VNFs are wired"),
  row("vnfs", "integer", "VNFs in the chain"),
  row("dir", {words = {"uni", "rev", "bi"}}, "directions; `bi` counts the frames of both"),
  row("size", "number", "bytes of a frame with FCS"),
  maybe("mix", "text", "the mix of sizes, if frames differ; `size` is then its mean"),
  row("wire", "text", "what physical ports are made of: memif, vhost, ring, pci:..."),
  row("vnf", "text", "what a VNF does: io, mac; none"),
  maybe("vnf_in", "text", "container or vm"),
  maybe("vm", "text", "how virtual machines ran: kvm, or tcg (emulation: for function alone)"),
  row("switch", switch, "the switch under test"),
  maybe("link_bps", "number", "layer-1 rate at which physical ports are paced"),
}

local limited = {words = {"switch", "generator", "monitor", "wire", "window", "noise", "none"},
                 pattern = "vnf [1-9][0-9]*"}

local host = {
  row("name", "text", "of the machine: results of other hosts are never compared"),
  row("cpu", "text", "model"), row("cores", "integer", "that may be used"),
  maybe("caches", "text", "sizes by level"), maybe("tsc_hz", "number", "cycles a second"),
  maybe("tsc_flags", {list = "text"}, "constant_tsc, nonstop_tsc"),
  maybe("hypervisor", "text", "null: none, or none is seen"),
  row("kernel", "text", "release"), maybe("kernel_command_line", "text", "as booted"),
  maybe("hugepages", "text", "how many of which size"),
}

local build = {
  row("version", "text", "of Sluice"), maybe("commit", "text", "it was built from"),
  maybe("dirty", "boolean", "whether sources differed from it"),
  maybe("compiler", "text", "and its version"), maybe("flags", "text", "of the compiler"),
  maybe("dpdk", "text", "version"),
}

local env = {
  row("when", {words = {"before", "after"}}, "the run it stands at the start or end of"),
  row("command", "text", "the command line that repeats the run"),
  row("host", host, "the machine"), row("build", build, "the program"),
  row("load", {list = "number"}, "load averages"),
  maybe("steal", "number", "share of time that the hypervisor took, since boot"),
  maybe("mode", "text", "near or far: time of a cache line between the two cores"),
  maybe("mode_ns", "number", "that time"),
  row("config", "map", "what the run was given, defaults too: rings, pools, burst, seed, ..."),
  row("switches", {list = {
    row("name", "text", "of the switch"), maybe("version", "text", "what it says of itself"),
    maybe("command", "text", "the exact command line"),
  }}, "those of the run"),
}

-- Of all frames from the start of the generators to the end of the drain; what was received within
-- the window is in rx_pps.
local counts = {
  row("intended", "integer", "frames that the load asks for, from the start to the drain"),
  row("attempted", "integer", "tried"), row("unsent", "integer", "too late to be tried: lost"),
  row("accepted", "integer", "taken by the first ring"),
  row("refused", "integer", "not taken by it: lost"),
  row("received", "integer", "came back, once each"),
  row("lost_inside", "integer", "accepted and not received"),
  row("duplicates", "integer", "came again"), row("reordered", "integer", "came after a later one"),
  row("damaged", "integer", "came with other bytes"),
  row("residual", "integer", "frames unaccounted for; anything but 0 is invalid"),
}

local trial = {
  row("search", "text", "mrr, ndr, pdr, rfc2544, loss, b2b, latency"),
  row("n", "integer", "which trial of the search, from 1"),
  row("warmup", "boolean", "whether its figures are left out"),
  row("seconds", "number", "the window"),
  maybe("intended_pps", "number", "the load; null: as fast as it goes"),
  row("rx_pps", "number", "received in the window, all directions together"),
  maybe("ceiling_pps", "number", "what the reference forwarder has reached here, in the same mode"),
  maybe("switch_cycles_per_packet", "number", "of the switch's core"),
  maybe("switch_core_ns", "number", "that its core was given to the switch, a packet"),
  maybe("busy", "map", "share of its core's time by role: generator, switch, vnf 1, monitor"),
  maybe("waited", "map", "share of the window in which something else had its core: traffic, switch"),
  row("drops", drops, "by hop"),
  maybe("mode", "text", "near or far"), maybe("mode_ns", "number", "a cache line's round trip"),
  row("hiccups", hiccups, "of the traffic's polling loop"),
  row("valid", "boolean", "whether it counts"), maybe("why", "text", "why it does not"),
  row("verdict", limited, "what limited it"), maybe("verdict_why", "text", "by which counters"),
}

local result = {
  row("metric", "text", "mrr, ndr, pdr, rfc2544, loss, b2b"),
  row("value_pps", summary, "packets a second, all directions together"),
  row("l1_gbps", "number", "the median at layer 1"), row("l2_gbps", "number", "and at layer 2"),
  row("limited_by", limited, "what most of its trials say"),
  maybe("limited_why", "text", "by which counters"),
  row("own", "boolean", "whether the figure is the switch's own; else it is at least that"),
  maybe("confirmed", "boolean", "cycles wasted in the traffic process did not move it; null: not tried"),
  maybe("cycles_per_packet", "number", "of the switch's core, median"),
  maybe("ratio_to_testpmd", "number", "median of ratios of adjacent pairs"),
  maybe("mode", "text", "near or far; mixed: trials of both"),
  maybe("loss_ratio", "number", "that the metric allows"),
  maybe("upper_pps", "number", "the smallest load that is too much"),
  maybe("trial_seconds", "number", "of the search's trials at the end: hiccups make them shorter"),
  maybe("curve", {list = {row("percent", "number", "of the greatest load"),
                          row("pps", "number", "the load"), row("loss", "number", "share lost")}},
        "loss by load"),
  maybe("burst", "map", "back-to-back: frames, implied_buffer_s, corrected_buffer_s"),
  maybe("memory_bytes", "integer", "of the switch's programs: resident, and hugepages; with what peers "
        .. "share with it"),
  maybe("hugepage_bytes", "integer", "of these, in hugepages"),
  row("trials", "integer", "that were run"), row("invalid", "integer", "of them"),
  row("hiccups", hiccups, "of its trials"), row("drops", drops, "by hop"),
  row("command", "text", "the command line that repeats it"),
}

local percentiles = {}
for _, p in ipairs{"p0", "p50", "p90", "p99", "p99_9", "p99_99", "p100"} do
  percentiles[#percentiles + 1] = row(p, "number", "ns")
end

local latency = {
  row("load", "number", "share of R+"), row("rplus_pps", "number", "R+, which was measured first"),
  row("offered_pps", "number", "the load"), row("seconds", "number", "the window"),
  row("sent", "integer", "frames with a stamp"), row("received", "integer", "that came back"),
  row("matched", "integer", "with a time that could be told"),
  row("percentiles_ns", percentiles, "of the time from the intended sending to the receipt"),
  row("histogram", {list = {list = "number"}}, "[upper end in ns, frames] of each bucket in use"),
  row("baseline", "boolean", "the reference forwarder's, shown beside the others"),
  row("queueing", "boolean", "the load is at or above R+: the median is the ring's depth"),
  maybe("mode", "text", "near or far"), row("hiccups", hiccups, "of the polling loops"),
  row("limited_by", limited, "what limited it"), row("command", "text", "that repeats it"),
}

local compare = {
  row("a", "text", "the one"), row("b", "text", "the other"),
  row("test", "text", "what both were measured with"), row("metric", "text", "mrr, cycles, ..."),
  row("ratio", "number", "median of a / b in adjacent pairs"),
  maybe("low", "number", "its 95 % interval; null: too few pairs"),
  maybe("high", "number", "its other end"), row("n", "integer", "pairs"),
  maybe("floor", "number", "how far a / a strays from 1 in this run"),
  maybe("detectable", "number", "smallest difference that could have been seen"),
  row("verdict", {words = {"faster", "slower", "same"}}, "same: no difference seen"),
  maybe("mode", "text", "near or far; mixed: pairs of both, each in one"),
  maybe("a_limited_by", limited, "what limited the one, where the figure is that of a switch"),
  maybe("b_limited_by", limited, "and the other"),
  row("pairs", {list = {list = "number"}}, "[a, b] of each pair"),
  maybe("command", "text", "the command line that repeats it"),
}

local intrinsic = {
  row("graph", "text", "the graph file"), row("test", "text", "graph and size"),
  row("cycles_per_packet", summary, "by the time stamp counter"),
  maybe("instructions_per_packet", "number", "counted by callgrind"),
  maybe("by_node", {list = {row("node", "text", "name"), row("cycles", "number", "a packet"),
                            maybe("instructions", "number", "a packet")}}, "node by node"),
  maybe("program", "text", "the build that ran it; null: the one that measured"),
  maybe("command", "text", "the command line that repeats it"),
}

local iperf3 = {
  row("switch", switch, "the bridge: sluice, bridge (the kernel's), ovs, ovs-dpdk"),
  row("seconds", "number", "of a trial"), row("mtu", "integer", "of the interfaces"),
  row("bps", {row("median", "number", "the figure to quote"), row("min", "number", "the least"),
              row("max", "number", "the greatest"), row("n", "integer", "trials")},
      "bits of TCP payload a second that were received"),
  row("retransmits", "integer", "segments sent again, of all trials"),
  row("cpu", {maybe("switch", "number", "programs of the switch"), row("client", "number", "iperf3"),
              row("server", "number", "iperf3"),
              row("interrupts", "number", "of the kernel for all: where its bridge works")},
      "cores in use, median: 1 is one core"),
  row("waited", "number", "share of its time in which the switch, client or server waited for a core"),
  row("limited_by", limited, "noise: something else had the cores; none: nothing is known to"),
  maybe("memory_bytes", "integer", "of the switch's programs: resident, and hugepages"),
  maybe("hugepage_bytes", "integer", "of these, in hugepages"),
  row("command", "text", "that repeats it"),
}

local function join(...)
  local all = {
    row("type", "text", "of the record"), row("version", "integer", "of this format"),
    row("session", "text", "the run of the program that wrote it"),
    row("time", "text", "UTC, as 2026-01-31T12:00:00Z"),
  }
  for _, rows in ipairs{...} do table.move(rows, 1, #rows, #all + 1, all) end
  return all
end

fields.types = {
  env = join(env), trial = join(cell, trial, counts), result = join(cell, result),
  latency = join(cell, latency), compare = join(compare), intrinsic = join(intrinsic),
  iperf3 = join(iperf3),
}
fields.names = {"env", "trial", "result", "latency", "compare", "intrinsic", "iperf3"}

return fields
