-- Faults stand where the user's own call is, also in a file that a script requires.
local mine = require "parts.faulty"
mine.build()
