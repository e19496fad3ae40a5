-- check: --set frames=many --set loss=some --set fast=perhaps --set wait=soon --set room=1X --set speed=1 --set peer=02 --set net=10 --set net6=::g
vars{
  frames = 10,
  loss = 0.5,
  fast = true,
  wait = {"1s", type = "duration"},
  room = {"1KiB", type = "bytes"},
  speed = {"1Gbps", type = "rate"},
  peer = {"02:00:00:00:00:01", type = "mac"},
  net = {"10.0.0.0/8", type = "ipv4"},
  net6 = {"fe80::/10", type = "ipv6"},
}
chain(Source(), Sink())
