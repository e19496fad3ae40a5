local source = Source()
local whole = source >> nil
