error({code = 5})
