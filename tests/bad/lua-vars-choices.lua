-- check: --set mode=furious --set lanes=3
vars{mode = {"fast", choices = {"fast", "safe"}}, lanes = {1, choices = {1, 2, 4}}}
chain(Source(), Sink())
