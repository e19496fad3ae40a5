-- check: --script-memory 16MiB
local all = {}
while true do
  all[#all + 1] = ("x"):rep(65536) .. #all
end
