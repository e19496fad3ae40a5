-- Builds nothing.
local n = 1 + 1
