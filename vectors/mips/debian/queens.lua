-- Sorting, closures, patterns of strings, floating-point numbers, and a search.
local state = 42
local function random(n) state = (state * 16807) % 2147483647 return state % n end

local numbers = {}
for i = 1, 150000 do numbers[i] = random(1000000) end
table.sort(numbers, function(a, b) if a % 1000 ~= b % 1000 then return a % 1000 < b % 1000 end return a < b end)
local check = 0
for i, n in ipairs(numbers) do check = (check * 31 + n * i) % 1000000007 end
print("sorted", numbers[1], numbers[#numbers], check)

local parts = {}
for i = 1, 40000 do parts[i] = string.format("key%d=%x;", random(500), random(65536)) end
local text, sums = table.concat(parts), {}
for key, value in text:gmatch("(key%d+)=(%x+);") do sums[key] = (sums[key] or 0) + tonumber(value, 16) end
local keys = {}
for key in pairs(sums) do keys[#keys + 1] = key end
table.sort(keys)
for i = 1, 5 do print(keys[i], sums[keys[i]]) end
print((text:gsub("%d+", function(digits) return #digits > 2 and "#" or nil end):sub(1, 60)))

local function queens(n)
  local solutions, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then solutions = solutions + 1 return end
    for column = 1, n do
      if not columns[column] and not up[row + column] and not down[row - column + n] then
        columns[column], up[row + column], down[row - column + n] = true, true, true
        place(row + 1)
        columns[column], up[row + column], down[row - column + n] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end
print("queens", queens(8))

local function nbody(steps)
  local x, y, vx, vy = 1.0, 0.0, 0.0, 1.0
  for _ = 1, steps do
    local r3 = (x * x + y * y) ^ 1.5
    vx, vy = vx - x / r3 * 0.001, vy - y / r3 * 0.001
    x, y = x + vx * 0.001, y + vy * 0.001
  end
  return x, y
end
print(string.format("orbit %.9f %.9f", nbody(200000)))

local thread = coroutine.wrap(function() for i = 1, 100000 do coroutine.yield(i * i % 97) end end)
local total = 0
for _ = 1, 100000 do total = total + thread() end
print("threads", total)
