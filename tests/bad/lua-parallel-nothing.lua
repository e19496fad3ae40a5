chain(Source(), parallel(), Sink())
