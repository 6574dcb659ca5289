function load(path)
    t = Float64[]
    n = Float64[]
    for line in eachline(path)
        isempty(strip(line)) && continue
        a, b = split(line)
        push!(t, parse(Float64, a))
        push!(n, parse(Float64, b))
    end
    return t, n
end

function loglin(t, obs)
    y = log.(obs ./ obs[0])
    slope = sum(t .* y) / sum(t .^ 2)
    return -slope
end

t, n = load(ARGS[1])
lambda = loglin(t, n)
open(ARGS[2], "w") do io
    println(io, "lambda ", round(lambda, digits = 5))
    println(io, "halflife ", round(log(2) / lambda, digits = 3))
end
