local mine = require "parts.runtime"
