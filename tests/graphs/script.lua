-- SPDX-License-Identifier: BSD-3-Clause
-- The graph of script.test.yaml: as many MACSwap nodes between two ports as the var says.

vars{swaps = {2, help = "MACSwap nodes", min = 0, max = 8}}
local left, right = port.null("left"), port.null("right")
local swaps = {}
for i = 1, vars.swaps do swaps[i] = MACSwap end
chain(left, swaps, right)
