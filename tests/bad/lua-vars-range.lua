-- check: --set low=0 --set high=9 --set both=99 --set share=1.5 --set zero=1
vars{
  low = {1, min = 1},
  high = {1, max = 8},
  both = {1, min = 1, max = 8},
  share = {0.5, min = 0, max = 1},
  zero = {0, min = -5, max = 0},
}
chain(Source(), Sink())
