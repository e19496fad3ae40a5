-- check: --script-instructions 1000000
local co = coroutine.wrap(function()
  while true do end
end)
co()
