local st = require("st")
local q = require("fmt.nice")
for _, f in ipairs(arg) do
  local t = {}
  for line in io.lines(f) do t[#t + 1] = tonumber(line) end
  print(q(f), st.mean(t))
end
