local other = graph("key-unknown.yaml")
