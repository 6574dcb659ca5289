local n = tonumber(arg[1]) or 1
for i = 1, n do
  if i ~= 2 then print(i * 2.5) end
end
