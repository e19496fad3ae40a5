local left, middle, right = port.null{}, port.null("middle", {}), port.null{}
chain(left, MACSwap(), middle, MACSwap(), right)
