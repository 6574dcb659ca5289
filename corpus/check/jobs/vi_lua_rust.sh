#!/bin/bash
#SBATCH --time=10 --mem=200M
set -e
lua - 3 <<'LUA'
local n = tonumber(arg[1]) or 1
local t <const> = setmetatable({}, { __index = function(_, k) return k * 2 end })
for i = 1, n do
  if i == 2 then goto continue end
  print(("%d -> %d"):format(i, t[i]))
  ::continue::
end
local s = [[
multi "line" 'text'
]]
assert(#s > 3 and n // 1 == n, "bad")
LUA
