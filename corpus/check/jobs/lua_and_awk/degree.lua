local degree = {}
for line in io.lines(arg[1]) do
  local a, b = line:match("^(%w+)%s+(%w+)$")
  if a ~= nil then
    for _, node in ipairs({ a, b }) do
      degree[node] = (degree[node] or 0) + 1
    end
  end
end
for node, n in pairs(degree) do print(node, n) end
