vars{frames = 10}
chain(Source{count = vars.frame}, Sink())
