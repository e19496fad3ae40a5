local a = Source{}
local b = Elephant{}
