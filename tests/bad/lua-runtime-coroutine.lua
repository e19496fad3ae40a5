local co = coroutine.wrap(function()
  local nothing
  return nothing.field
end)
co()
