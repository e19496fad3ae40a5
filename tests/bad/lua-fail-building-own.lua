local cores = 0
if cores < 1 then fail("there are no cores") end
