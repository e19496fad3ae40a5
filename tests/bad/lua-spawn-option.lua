chain(Source(), Sink())
spawn{"true", enviroment = {}}
