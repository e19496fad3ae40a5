chain(Source{}, MacSwap(), Sink())
