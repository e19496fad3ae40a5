chain(parallel(Source(), Source()), parallel(Sink(), Sink(), Sink()))
