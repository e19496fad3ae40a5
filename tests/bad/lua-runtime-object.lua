error(setmetatable({}, {__tostring = function() return "an object of the script's own" end}))
