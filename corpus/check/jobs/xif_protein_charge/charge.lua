#!/usr/bin/env lua
local pka = {}
for line in io.lines("pka.txt") do
  local aa, v, sign = line:match("^(%a)%s+([%d.]+)%s+([+-])")
  if aa then pka[aa] = { tonumber(v), sign == "+" and 1 or -1 } end
end
local ph = tonumber(arg[2])
for seq in io.lines(arg[1]) do
  local q = 0
  for aa in seq:gmatch("%a") do
    local p = pka[aa]
    if p then
      q = q + p[2] / (1 + 10 ^ (p[2] * (ph - p[1])))
    end
  end
  print(string.format("%s %.2f", seq, q))
end
