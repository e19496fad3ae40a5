local fwd = L2Fwd(8)
