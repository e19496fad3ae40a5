-- check: --set frame=5 --set elephant=1
vars{frames = 10, size = 64}
chain(Source{count = vars.frames}, Sink())
