load_module{}
