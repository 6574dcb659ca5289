-- Coupon collector: how many packets until all cards are there?
local cards = tonumber(arg[1]) or 500
local trials = tonumber(arg[2]) or 100

math.randomseed(42)
local total = 0
for trial = 1, trials do
  local have, left, bought = {}, cards, 0
  while left > 0 do
    local card = math.random(cards)
    bought = bought + 1
    if not have[card] then
      have[card] = true
      left = left - 1
    end
  end
  total = total + bought
end
print(string.format("%.1f packets on average", total / trials))
