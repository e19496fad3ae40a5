-- check: --script-memory 16MiB
local big = ("x"):rep(1 << 40)
