local function check()
  error("no place at all", 0)
end
check()
