-- the n first numbers of a sequence, each expensive
local function steps(n)
  local k = 0
  while n ~= 1 do
    if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
    k = k + 1
  end
  return k
end
for i = 1, tonumber(arg[1]) do
  local best = 0
  for j = i * 1000, i * 1000 + 999 do best = math.max(best, steps(j)) end
  print("reading " .. best)
end
