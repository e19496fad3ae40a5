vars{frames = 10}
vars.frames = 11
