using Random, Statistics, Base.Threads

Base.@kwdef mutable struct Lattice{T<:Integer}
    s::Matrix{T}
    β::Float64 = 0.44
end

function sweep!(l::Lattice, rng::AbstractRNG)
    n = size(l.s, 1)
    for i in 1:n, j in 1:n
        h = sum(l.s[mod1(i + di, n), mod1(j + dj, n)] for (di, dj) in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        rand(rng) < exp(-2 * l.β * l.s[i, j] * h) && (l.s[i, j] *= -1)
    end
    return l
end

function parse_args(args)
    opts = Dict{String,String}()
    i = 1
    while i <= length(args)
        m = match(r"^--(\w+)(?:=(.*))?$", args[i])
        m === nothing && error("bad argument $(args[i])")
        if m[2] === nothing
            opts[m[1]] = args[i += 1]
        else
            opts[m[1]] = m[2]
        end
        i += 1
    end
    opts
end

opts = parse_args(ARGS)
n = parse(Int, get(opts, "size", "64"))
acc = zeros(nthreads())
@threads for t in 1:nthreads()
    rng = MersenneTwister(t)
    l = Lattice(s = rand(rng, Int8[-1, 1], n, n), β = parse(Float64, get(opts, "beta", "0.44")))
    foreach(_ -> sweep!(l, rng), 1:100)
    acc[t] = abs(mean(l.s))
end
println("|m| = $(round(mean(acc), digits = 4)) ± $(std(acc))")
open("m.txt", "w") do io
    write(io, join(acc, '\n'))
end
