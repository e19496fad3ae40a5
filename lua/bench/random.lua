-- SPDX-License-Identifier: BSD-3-Clause
-- A seeded generator of its own (xorshift64*, Vigna 2016): what is drawn depends on the seed alone,
-- not on who else draws from Lua's.

local random = {}
random.__index = random

--- A generator; equal seeds draw equal numbers.
---@param seed integer
function random.new(seed)
  -- Neighbouring seeds are spread by splitmix64's last steps; the state must not be 0.
  local x = (math.tointeger(seed) or 0) + 0x9e3779b97f4a7c15
  x = (x ~ (x >> 30)) * 0xbf58476d1ce4e5b9
  x = (x ~ (x >> 27)) * 0x94d049bb133111eb
  x = x ~ (x >> 31)
  return setmetatable({state = x == 0 and 1 or x}, random)
end

--- A number in [0, 1).
function random:number()
  local x = self.state
  x = x ~ (x >> 12)
  x = x ~ (x << 25)
  x = x ~ (x >> 27)
  self.state = x
  return ((x * 0x2545f4914f6cdd1d) >> 11) * 0x1p-53
end

--- A whole number from 1 to n.
function random:integer(n) return math.floor(self:number() * n) + 1 end

--- A number of the standard normal distribution (Box and Muller 1958).
function random:normal()
  return math.sqrt(-2 * math.log(1 - self:number())) * math.cos(2 * math.pi * self:number())
end

--- Puts a list into a random order, in its place (Fisher and Yates).
function random:shuffle(list)
  for i = #list, 2, -1 do
    local k = self:integer(i)
    list[i], list[k] = list[k], list[i]
  end
  return list
end

return random
