-- SPDX-License-Identifier: BSD-3-Clause
-- The bar of a long run: where it stands, and the time left.

local rig = require "rig"
local progress = require "sluice.bench.progress"
local test, same = rig.test, rig.same

test("a bar with the time left", function()
  same(progress.text(0, 51, "p2p", 0), "[--------------------] 1 of 51, p2p")
  same(progress.text(10, 40, "p2p", 20), "[#####---------------] 11 of 40, p2p: 60 s left")
  same(progress.text(1, 51, "v2v", 12), "[--------------------] 2 of 51, v2v: 10 min left")
  same(progress.text(1, 51, "v2v", 180), "[--------------------] 2 of 51, v2v: 2.5 h left")
  same(progress.text(50, 51, "v2v", 500), "[###################-] 51 of 51, v2v: 10 s left")
end)
