chain(Source(), Sink("out"))
print(node.oot.name)
