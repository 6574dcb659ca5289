using Random

function walk(n)
    x = 0
    path = zeros(Int, n)
    for i in 1:n
        x += rand((-1, 1))
        if abs(x) > 50
            x = 0
        end
        path[i] = x
    return path
end

const N = length(ARGS) > 0 ? parse(Int, ARGS[1]) : 100
Random.seed!(3)
p = walk(N)
println(extrema(p))
