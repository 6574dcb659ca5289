-- Knight's tours by Warnsdorff's rule, from every field of several boards.
local size, rounds = tonumber(arg[1]), tonumber(arg[2])
local moves = {{1,2},{2,1},{2,-1},{1,-2},{-1,-2},{-2,-1},{-2,1},{-1,2}}

local function free(board, r, c)
  return r >= 1 and r <= size and c >= 1 and c <= size and not board[(r - 1) * size + c]
end

local function exits(board, r, c)
  local n = 0
  for _, m in ipairs(moves) do
    if free(board, r + m[1], c + m[2]) then n = n + 1 end
  end
  return n
end

local complete = 0
for round = 1, rounds do
  local r, c = (round * 7) % size + 1, (round * 13) % size + 1
  local board, visited = {}, 1
  board[(r - 1) * size + c] = true
  while true do
    local best, br, bc = 9, nil, nil
    for _, m in ipairs(moves) do
      local nr, nc = r + m[1], c + m[2]
      if free(board, nr, nc) then
        local e = exits(board, nr, nc)
        if e < best then best, br, bc = e, nr, nc end
      end
    end
    if not br then break end
    r, c = br, bc
    board[(r - 1) * size + c] = true
    visited = visited + 1
  end
  if visited == size * size then complete = complete + 1 end
end
print(complete .. " of " .. rounds .. " complete")
