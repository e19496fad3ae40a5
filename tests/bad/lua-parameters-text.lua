local nodes = {}
nodes[1] = L2Fwd("fwd", "size=4")
