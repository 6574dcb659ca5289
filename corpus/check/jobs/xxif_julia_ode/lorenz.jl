# largest Lyapunov exponents, one rho a thread; only the standard library
using TOML
using Base.Threads

function field(u, s, r, b)
    (s * (u[2] - u[1]), u[1] * (r - u[3]) - u[2], u[1] * u[2] - b * u[3])
end

function exponent(s, r, b, steps; dt = 1e-3, d0 = 1e-8)
    u = (1.0, 1.0, 1.0)
    v = (1.0 + d0, 1.0, 1.0)
    acc = 0.0
    for _ in 1:steps
        u = u .+ dt .* field(u, s, r, b)
        v = v .+ dt .* field(v, s, r, b)
        d = sqrt(sum(abs2, v .- u))
        acc += log(d / d0)
        v = u .+ (v .- u) .* (d0 / d)
    end
    acc / (steps * dt)
end

function main()
    p = TOML.parsefile(ARGS[1])
    rhos = Float64.(p["rho"])
    res = zeros(length(rhos))
    @threads for i in eachindex(rhos)
        res[i] = exponent(p["sigma"], rhos[i], p["beta"], p["steps"])
    end
    open(ARGS[2], "w") do io
        for (r, e) in zip(rhos, res)
            println(io, r, ",", e)
        end
    end
end

main()
