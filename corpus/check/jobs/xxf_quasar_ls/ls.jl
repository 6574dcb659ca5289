# Lomb-Scargle by brute force; columns: t y
using Base.Threads

function readlc(path)
    t = Float64[]; y = Float64[]
    for line in eachline(path)
        startswith(line, "#") && continue
        a, b = split(line)
        push!(t, parse(Float64, a)); push!(y, parse(Float64, b))
    end
    t, y .- sum(y) / length(y)
end

function power(w, t, y)
    c = 0.0; s = 0.0
    @inbounds for i in eachindex(t)
        c += y[i] * cos(w * t[i]); s += y[i] * sin(w * t[i])
    end
    (c^2 + s^2) / length(t)
end

t, y = readlc(ARGS[1])
freqs = range(1e-4, 0.5; length = 50_000_000)
p = zeros(length(freqs))
@threads :static for k in eachindex(freqs)
    p[k] = power(2pi * freqs[k], t, y)
end
best = partialsortperm(p, 1:20; rev = true)
open(ARGS[2], "w") do io
    for k in best
        println(io, 1 / freqs[k], " ", p[k])
    end
end
