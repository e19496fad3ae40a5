vars{a = {1, maximum = 8}}
vars{b = {1, type = "intege"}}
vars{c = {"1s", type = "duration", min = "1ms"}}
vars{d = {1, min = "one"}}
vars{e = {"x", choices = "x"}}
vars{f = {"x", help = 5}}
vars{1, 2}
