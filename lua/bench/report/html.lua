-- SPDX-License-Identifier: BSD-3-Clause
-- The report as one HTML file that asks for nothing from anywhere: tables, and plots as SVG within.

local gnuplot = require "sluice.bench.report.gnuplot"
local text = require "sluice.bench.report.text"
local html = {}

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
                  ["'"] = "&#39;"}

local function escape(word) return (tostring(word):gsub("[&<>\"']", entities)) end

local head = [[
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>%s</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80em; margin: 2em auto; padding: 0 1em;
  color: #222; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: .15em .6em; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
th.word, td.word { text-align: left; }
tr.cut td { color: #666; }
figure { margin: 1.5em 0; overflow-x: auto; }
figure svg { max-width: 100%%; height: auto; }
pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }
</style>
</head>
<body>
<h1>%s</h1>
]]

local titles = {"scenario", "size", "dir", "wire", "switch", "", "rate", "layer 1", "least..most",
                "cost",
                "ratio", "cores", "limit"}
local words = {[1] = true, [3] = true, [4] = true, [5] = true, [6] = true, [12] = true, [13] = true}

local function results_table(results)
  local out = {'<div class="wide"><table>\n<tr>'}
  for i, title in ipairs(titles) do
    out[#out + 1] = ('<th%s>%s</th>'):format(words[i] and ' class="word"' or "", title)
  end
  out[#out + 1] = "</tr>\n"
  for _, one in ipairs(results) do
    out[#out + 1] = one.own and "<tr>" or '<tr class="cut">'
    for i, part in ipairs(text.row(one)) do
      part = part:gsub("^limit: ", ""):gsub(" L1$", "")
      out[#out + 1] = ('<td%s>%s</td>'):format(words[i] and ' class="word"' or "", escape(part))
    end
    out[#out + 1] = "</tr>\n"
  end
  out[#out + 1] = "</table></div>\n"
  out[#out + 1] = "<p>&gt;=: limited by something else than the switch, which may do more. Rates "
                  .. "of both directions together.</p>\n"
  return table.concat(out)
end

--- The page.
---@param title string
---@param data table? what report.collect() gave; nil: none
---@param plots table[] each with `svg`, the text that gnuplot wrote, or without: it could not be
---  drawn
---@param rest string what stands below, as text
---@param note string? said above the plots
function html.write(title, data, plots, rest, note)
  local out = {head:format(escape(title), escape(title))}
  if data and #data.results > 0 then out[#out + 1] = results_table(data.results) end
  if note then out[#out + 1] = ("<p><strong>%s</strong></p>\n"):format(escape(note)) end
  for _, plot in ipairs(plots) do
    local svg = plot.svg and gnuplot.inline(plot, plot.svg)
    if svg then
      out[#out + 1] = ('<figure id="%s" aria-label="%s">\n%s\n</figure>\n'):format(
          escape(plot.name), escape(plot.title), svg)
    end
  end
  out[#out + 1] = ("<pre>%s</pre>\n</body>\n</html>\n"):format(escape(rest))
  return table.concat(out)
end

return html
