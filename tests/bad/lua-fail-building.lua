if not vars.fast then fail("only fast") end
