local function nf(i) return chain(MACSwap("in" .. i), Tee("t" .. i)) end
local other = graph(function() chain(Source{count = 1}, nf(1), parallel(Sink(), Discard())) end)
local all = {}
for i = 1, 3 do all[i] = nf(i) end
chain(Source{templates = {"ether / ipv4 / udp"}}, RoundRobin(), parallel(all), Sink())
local ok, why = pcall(chain, nil, {1}, "in1", {x = 1})
coroutine.wrap(function() error(setmetatable({}, {__tostring = function() return "x" end})) end)()
