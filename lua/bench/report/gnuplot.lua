-- SPDX-License-Identifier: BSD-3-Clause
-- Gnuplot draws: the same script into SVG or PNG. What every plot shares: colours, fills, quoting.

local gnuplot = {}

-- Okabe and Ito's colours, which people who see few colours can tell apart.
local colours = {sluice = "#0072b2", testpmd = "#999999", ovs = "#d55e00", bess = "#009e73",
                 fastclick = "#e69f00", vpp = "#cc79a7", snabb = "#56b4e9"}
local more = {"#000000", "#7f3b08", "#542788", "#1b7837"}

--- The colour of each switch, by name, for those given in the order of the plot.
---@param names string[]
function gnuplot.colours(names)
  local by_name, n = {}, 0
  for _, name in ipairs(names) do
    by_name[name] = colours[name]
    if not by_name[name] then
      by_name[name] = more[n % #more + 1]
      n = n + 1
    end
  end
  return by_name
end

--- A text as gnuplot reads it: between single quotes nothing is looked at but these, and two of
--- them at the start are an empty text.
function gnuplot.quote(text)
  return "'" .. tostring(text):gsub("'", "\u{2019}"):gsub("%c", " ") .. "'"
end

--- The same over several lines, for labels. Between double quotes backquotes would be run.
function gnuplot.quote_lines(text)
  return '"' .. text:gsub("[\\\"`]", "\u{2019}"):gsub("\n", "\\n"):gsub("%c", " ") .. '"'
end

--- A named block of data: rows of numbers.
function gnuplot.block(name, rows)
  local lines = {"$" .. name .. " << EOD"}
  for _, row in ipairs(rows) do
    local parts = {}
    for i, value in ipairs(row) do parts[i] = ("%.10g"):format(value) end
    lines[#lines + 1] = table.concat(parts, " ")
  end
  lines[#lines + 1] = "EOD"
  return table.concat(lines, "\n")
end

-- What each plot begins with.
local head = [[
set encoding utf8
set border 3 linewidth 0.8 linecolor rgb '#333333'
set tics nomirror out textcolor rgb '#333333'
set grid ytics linetype 1 linewidth 0.5 linecolor rgb '#dddddd'
set key outside right top vertical Left reverse samplen 2 width 1 noenhanced
]]

local terminals = {
  svg = "set terminal svg size %d,%d fixed noenhanced font 'Helvetica,13' background 'white' "
        .. "name '%s'",
  png = "set terminal pngcairo size %d,%d noenhanced font 'Sans,13' fontscale 2 linewidth 2 "
        .. "pointscale 2",
}

--- The whole script of a plot for a format.
---@param plot {name: string, script: string, width?: integer, height?: integer}
---@param format "svg"|"png"
---@param path string what it writes
function gnuplot.script(plot, format, path)
  local scale = format == "png" and 2 or 1
  local terminal = terminals[format]:format((plot.width or 820) * scale,
                                            (plot.height or 420) * scale,
                                            plot.name:gsub("[^%w]", "_"))
  return table.concat({terminal, "set output " .. gnuplot.quote(path), head .. plot.script,
                       "set output",
                       ""}, "\n")
end

local function shell(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Whether gnuplot is there; else what to install.
---@return boolean
---@return string? why
function gnuplot.found()
  local pipe = io.popen("gnuplot --version 2>/dev/null")
  local version = pipe and pipe:read("a")
  if pipe then pipe:close() end
  if version and version:find("gnuplot 5", 1, true) then return true end
  return false, "plots need gnuplot 5: sudo apt-get install gnuplot-nox"
end

--- Draws a plot into DIR/NAME.svg or .png; the path, or nil and what gnuplot said.
---@param plot table
---@param format "svg"|"png"
---@param dir string
---@return string? path
---@return string? why
function gnuplot.draw(plot, format, dir)
  local path = ("%s/%s.%s"):format(dir, plot.name, format)
  local script = ("%s/%s.gnuplot"):format(dir, plot.name)
  local file, why = io.open(script, "w")
  if not file then return nil, why end
  file:write(gnuplot.script(plot, format, path))
  file:close()
  local pipe = io.popen(("gnuplot %s 2>&1"):format(shell(script)))
  local said = pipe:read("a")
  local ok = pipe:close()
  if ok then
    os.remove(script)
    return path
  end
  -- The script stays, for whoever looks into it.
  return nil, ("gnuplot could not draw %s: %s"):format(script, (said:gsub("%s+", " ")))
end

--- An SVG to stand in HTML among others: without its head, and with names that are its own.
---@param plot table
---@param text string
function gnuplot.inline(plot, text)
  local svg = text:match("<svg.*</svg>")
  if not svg then return nil end
  local prefix = plot.name:gsub("[^%w]", "_") .. "_"
  svg = svg:gsub("(%sid=['\"])", "%1" .. prefix)
  svg = svg:gsub("url%(#", "url(#" .. prefix)
  svg = svg:gsub("(href=['\"]#)", "%1" .. prefix)
  return svg
end

return gnuplot
