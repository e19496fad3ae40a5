settings{burst = 32}
settings{burst = 16}
settings(1)
