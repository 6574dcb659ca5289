local rules = require("rules")

local n = tonumber(arg[1])
local width = tonumber(arg[2] or "31")
local row = {}
for i = 1, width do row[i] = 0 end
row[math.ceil(width / 2)] = 1

for _ = 1, math.floor(width / 2) do
  local s = {}
  for i = 1, width do s[i] = row[i] == 1 and "#" or "." end
  print(table.concat(s))
  row = rules.step(n, row)
end
