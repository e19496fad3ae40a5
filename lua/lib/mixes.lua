-- SPDX-License-Identifier: BSD-3-Clause
-- Mixes of sizes, as they are known: rows of size (with FCS) and share. IMIX is not one thing: say
-- which. Traffic profiles and benchmarks have the same ones.
--  - simple, cisco: 40, 576 and 1500 bytes of IP, 7 : 4 : 1;
--  - ixia: the same with 570-byte frames in the middle;
--  - csit: FD.io's, 28 : 16 : 4 of the same sizes (mean 353.8);
--  - tcp, ipsec, tolly: those of traffic generators, in percent.

return {
  simple = {{64, 7}, {594, 4}, {1518, 1}},
  cisco = {{64, 7}, {594, 4}, {1518, 1}},
  ixia = {{64, 7}, {570, 4}, {1518, 1}},
  csit = {{64, 28}, {570, 16}, {1518, 4}},
  tcp = {{90, 58.67}, {92, 2}, {594, 23.66}, {1518, 15.67}},
  ipsec = {{90, 58.67}, {92, 2}, {594, 23.66}, {1418, 15.67}},
  tolly = {{64, 55}, {78, 5}, {576, 17}, {1518, 23}},
}
