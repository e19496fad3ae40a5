local other = graph("none.yaml")
