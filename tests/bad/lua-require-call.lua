local mine = require "parts.calls"
mine.build(
  nil)
