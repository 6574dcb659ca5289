local text = io.read("a")
local counts, total = {}, 0
for word in text:gmatch("%a+") do
  word = word:lower()
  counts[word] = (counts[word] or 0) + 1
  total = total + 1
end
local entropy = 0
for _, n in pairs(counts) do
  local p = n / total
  entropy = entropy - p * math.log(p, 2)
end
print(total, entropy)
