local left = port.null("left")
print(left.state)
