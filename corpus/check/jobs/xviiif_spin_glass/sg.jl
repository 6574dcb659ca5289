using Random

const L = parse(Int, ARGS[1])
const T = parse(Float64, ARGS[2])
const NSWEEP = parse(Int, ARGS[3])
const OUT = ARGS[4]

nb(i) = i == L ? 1 : i + 1
pb(i) = i == 1 ? L : i - 1

function localfield(s, J, x, y, z)
    J[1, x, y, z] * s[nb(x), y, z] + J[1, pb(x), y, z] * s[pb(x), y, z] +
    J[2, x, y, z] * s[x, nb(y), z] + J[2, x, pb(y), z] * s[x, pb(y), z] +
    J[3, x, y, z] * s[x, y, nb(z)] + J[3, x, y, pb(z)] * s[x, y, pb(z)]
end

function main()
    rng = MersenneTwister(20231)
    s = rand(rng, Int8[-1, 1], L, L, L)
    J = randn(rng, 3, L, L, L)
    e = 0.0
    for sweep in 1:NSWEEP
        for z in 1:L, y in 1:L, x in 1:L
            dE = 2 * s[x, y, z] * localfield(s, J, x, y, z)
            if dE <= 0 || rand(rng) < exp(-dE / T)
                s[x, y, z] = -s[x, y, z]
                e += dE
                open(joinpath(OUT, "trace.dat"), "a") do io
                    println(io, sweep, ' ', e)
                end
            end
        end
    end
    println("final energy per spin ", e / L^3)
end

main()
