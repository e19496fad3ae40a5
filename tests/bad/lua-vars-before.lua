chain(Source{count = vars.frames}, Sink())
