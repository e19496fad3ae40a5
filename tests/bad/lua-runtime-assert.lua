assert(1 == 2, "arithmetic has changed")
