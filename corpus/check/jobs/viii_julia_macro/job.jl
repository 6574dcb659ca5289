#!/usr/bin/env julia
#SBATCH --job-name=lorenz
#SBATCH --time=30
#SBATCH --mem=4G
using LinearAlgebra, Printf

Base.@kwdef struct Lorenz{T<:Real}
    σ::T = 10.0
    ρ::T = 28.0
    β::T = 8 / 3
end
(l::Lorenz)(u) = [l.σ * (u[2] - u[1]), u[1] * (l.ρ - u[3]) - u[2], u[1] * u[2] - l.β * u[3]]
u = [1.0, 0, 0]
let dt = 1e-2
    for _ in 1:1000
        global u .+= dt .* Lorenz()(u)
    end
end
@printf "%.3f %s\n" norm(u) get(ENV, "SLURM_JOB_ID", "none")
x = u[end]; println("""last "$x" of $(length(u))""")
