local fwd = L2Fwd("fwd", {})
fwd:add{mac = "02:00:00:00:00:01", gate = 1}
