-- check: --script-memory 16MiB
coroutine.wrap(function()
  local all = {}
  while true do all[#all + 1] = {} end
end)()
