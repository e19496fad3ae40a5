-- check: --script-memory 1KiB
chain(Source(), Sink())
