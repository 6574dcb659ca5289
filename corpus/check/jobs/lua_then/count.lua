local n = 0
for i = 1, 10 do
  if i % 2 == 0
    n = n + 1
  end
end
print(n)
