chain()
