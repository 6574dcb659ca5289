-- turns a wide table into a long one and back, checking that nothing is lost
local rows, cols = tonumber(arg[1]), tonumber(arg[2])
local wide = {}
for r = 1, rows do
  local line = { "row" .. r }
  for c = 1, cols do line[#line + 1] = tostring((r * 31 + c * 17) % 1009) end
  wide[r] = table.concat(line, ";")
end
local long = {}
for _, line in ipairs(wide) do
  local name, c = nil, 0
  for field in line:gmatch("[^;]+") do
    if not name then name = field else
      c = c + 1
      long[#long + 1] = string.format("%s;c%03d;%s", name, c, field)
    end
  end
end
local back = {}
for _, line in ipairs(long) do
  local name, column, value = line:match("^(.-);c(%d+);(.*)$")
  back[name] = back[name] or {}
  back[name][tonumber(column)] = value
end
local good = 0
local out = assert(io.open("long.csv", "w"))
for r, line in ipairs(wide) do
  local again = "row" .. r .. ";" .. table.concat(back["row" .. r], ";")
  if again == line then good = good + 1 end
  out:write(long[r], "\n")
end
out:close()
print(good .. " of " .. rows .. " rows survive")
