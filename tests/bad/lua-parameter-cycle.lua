local frames = {}
frames[1] = frames
chain(Source{templates = frames}, Sink())
