return function(s) return (s:gsub("%.num$", "")) end
