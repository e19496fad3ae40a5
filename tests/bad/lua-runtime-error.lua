local function check(n)
  if n > 8 then error("at most 8 VNFs") end
end
check(9)
