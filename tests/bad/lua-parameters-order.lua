local fwd = L2Fwd({size = 8}, "fwd")
