local t = {} t.t = t
Source{count = 2^64, burst = -1, x = t, ["a\0"] = 0/0}
Elephant("a b", {port = port.left})
chain(L2Fwd("f"), node.f.stats, drops, workers, vars, on, 5)
goto done
do local x <close> = nil local y <const> = 1 // 0 end
::done::
