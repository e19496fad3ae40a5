-- Defaults are checked as what is set is.
vars{
  vnfs = {9, min = 1, max = 8},
}
vars{wait = {"soon", type = "duration"}}
vars{mode = {"x", choices = {"fast", "safe"}}}
vars{list = {{1, 2}}, call = print}
chain(Source(), Sink())
