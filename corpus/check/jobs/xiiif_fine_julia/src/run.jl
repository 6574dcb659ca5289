include(joinpath(@__DIR__, "seir.jl"))
using .Seir

function main(source, target)
    rows = [split(l, ',') for l in readlines(source)[2:end]]
    peak = Vector{Tuple{Float64,Int}}(undef, length(rows))
    Threads.@threads for i in eachindex(rows)
        beta = parse(Float64, rows[i][2])
        pop = parse(Float64, rows[i][3])
        peak[i] = Seir.peak(beta, pop)
    end
    open(target, "w") do io
        println(io, "region,peak,day")
        for (r, p) in zip(rows, peak)
            println(io, r[1], ",", round(p[1]; digits = 1), ",", p[2])
        end
    end
end

main(ARGS...)
