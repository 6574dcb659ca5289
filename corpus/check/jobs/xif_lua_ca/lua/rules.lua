local M = {}

function M.step(n, row)
  local new, w = {}, #row
  for i = 1, w do
    local l, c, r = row[(i - 2) % w + 1], row[i], row[i % w + 1]
    local k = 4 * l + 2 * c + r
    new[i] = math.floor(n / 2 ^ k) % 2
  end
  return new
end

return M
