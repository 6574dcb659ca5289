-- a little reverse Polish calculator
local stack = {}
local function pop() return table.remove(stack) or 0 end
while true do
  io.write("> ")
  local line = io.read("l")
  if line == nil or line == "quit" then break end
  for word in line:gmatch("%S+") do
    if tonumber(word) then stack[#stack + 1] = tonumber(word)
    elseif word == "+" then stack[#stack + 1] = pop() + pop()
    elseif word == "*" then stack[#stack + 1] = pop() * pop()
    end
  end
  print(table.concat(stack, " "))
end
