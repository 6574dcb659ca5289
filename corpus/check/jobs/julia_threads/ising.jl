using Random

function sweep!(s::Matrix{Int}, β, rng)
    n = size(s, 1)
    for j in 1:n, i in 1:n
        nb = s[mod1(i + 1, n), j] + s[mod1(i - 1, n), j] + s[i, mod1(j + 1, n)] + s[i, mod1(j - 1, n)]
        ΔE = 2 * s[i, j] * nb
        (ΔE <= 0 || rand(rng) < exp(-β * ΔE)) && (s[i, j] *= -1)
    end
    return s
end

s = rand((-1, 1), 64, 64)
foreach(_ -> sweep!(s, 0.44, Random.default_rng()), 1:1000)
println("m = $(abs(sum(s)) / length(s))", isempty(ARGS) ? "" : "; " * join(ARGS, ' '))
