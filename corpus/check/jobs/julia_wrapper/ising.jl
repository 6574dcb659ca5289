using Random

function sweep!(s, beta, rng)
    L = size(s, 1)
    for _ in 1:L^2
        i, j = rand(rng, 1:L), rand(rng, 1:L)
        nb = s[mod1(i + 1, L), j] + s[mod1(i - 1, L), j] + s[i, mod1(j + 1, L)] + s[i, mod1(j - 1, L)]
        dE = 2 * s[i, j] * nb
        if dE <= 0 || rand(rng) < exp(-beta * dE)
            s[i, j] = -s[i, j]
        end
    end
end

L = parse(Int, ARGS[1])
T = parse(Float64, ARGS[2])
s = ones(Int, L, L)
for _ in 1:100
    sweep!(s, 1 / T, MersenneTwister(1))
end
println(sum(s) / L^2)
