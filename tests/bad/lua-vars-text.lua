vars("frames")
