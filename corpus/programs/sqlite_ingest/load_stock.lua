-- load_stock.lua ROWS: feed the sqlite3 shell, then ask it a few questions
local rows = tonumber(arg[1]) or 1000
local db = io.popen("sqlite3 stock.db", "w")
db:write("create table stock (part integer, bin text, n integer);\nbegin;\n")
local seed = 42
for i = 1, rows do
  seed = (seed * 1103515245 + 12345) % 2147483648
  db:write(string.format("insert into stock values (%d, 'b%03d', %d);\n", i % 997, seed % 211, seed % 50))
end
db:write("commit;\n")
db:write([[
select part, sum(n) as total, group_concat(distinct bin) as bins from stock
  group by part having total > 10 order by total desc limit 5;
select count(*) from (select a.part from stock a join (select part, avg(n) as mean from stock group by part) m
  on a.part = m.part where a.n > m.mean);
]])
db:close()
