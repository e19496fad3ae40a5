local mine = require "parts.none"
