local mine = require "parts.syntax"
