using Random
using LinearAlgebra: norm
import Base.Threads: @threads

struct Lattice{T<:Integer}
    spins::Matrix{T}
end

Lattice(n::Int; rng = MersenneTwister(1)) = Lattice(rand(rng, Int8[-1, 1], n, n))

function energy(l::Lattice)
    s = l.spins
    -sum(s .* circshift(s, (1, 0))) - sum(s .* circshift(s, (0, 1)))
end

function run(n; T = 2.0, sweeps = 10)
    l = Lattice(n)
    seen = zeros(sweeps)
    @threads for i in 1:sweeps
        seen[i] = energy(l) / n^2
    end
    println("T = $T, E = $(round(norm(seen) / sqrt(sweeps), digits = 3))")
end
