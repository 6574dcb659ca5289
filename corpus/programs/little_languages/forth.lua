-- A tiny Forth. The test program counts partitions.
local n = tonumber(arg[1])
local words, stack = {}, {}

local function push(v) stack[#stack + 1] = v end
local function pop() return table.remove(stack) end

words["+"] = function() local b = pop() push(pop() + b) end
words["-"] = function() local b = pop() push(pop() - b) end
words["*"] = function() local b = pop() push(pop() * b) end
words["mod"] = function() local b = pop() push(pop() % b) end
words["dup"] = function() local a = pop() push(a) push(a) end
words["swap"] = function() local b, a = pop(), pop() push(b) push(a) end
words["over"] = function() local b, a = pop(), pop() push(a) push(b) push(a) end

local function run(source)
  for token in source:gmatch("%S+") do
    local number = tonumber(token)
    if number then push(number) else words[token]() end
  end
end

push(1)
for i = 1, n do
  run(i .. " swap 31 * + 1000003 mod dup dup * 7 mod over swap - swap 2 * 1000003 mod swap + 1000003 mod")
end
print(pop())
