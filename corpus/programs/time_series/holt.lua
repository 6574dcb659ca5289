-- Holt-Winters smoothing; parameters by a coarse grid search.
local n, steps = tonumber(arg[1]), tonumber(arg[2])
local data = {}
for i = 1, n do
  data[i] = 50 + 0.02 * i + 10 * math.sin(2 * math.pi * i / 24) + (i * 7919 % 13) / 5
end
local best, params = math.huge, ""
for a = 1, steps do
  for b = 1, steps do
    for g = 1, steps do
      local alpha, beta, gamma = a / (steps + 1), b / (steps + 1) / 10, g / (steps + 1)
      local level, trend, season, err = data[1], 0, {}, 0
      for i = 0, 23 do season[i] = 0 end
      for i = 1, n do
        local s = season[i % 24]
        local e = data[i] - (level + trend + s)
        err = err + e * e
        local old = level
        level = alpha * (data[i] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - old) + (1 - beta) * trend
        season[i % 24] = gamma * (data[i] - level) + (1 - gamma) * s
      end
      if err < best then best, params = err, alpha .. " " .. beta .. " " .. gamma end
    end
  end
end
print(best, params)
