local function double(of)
  return of.count * 2
end

local function build()
  chain(Source{count = double(nil)}, Sink())
end

build()
