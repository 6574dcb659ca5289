using Random

words = Dict{String,Vector{Int}}()
for l in eachline(ARGS[1])
    isempty(strip(l)) && continue
    f = split(l)
    words[f[1]] = parse.(Int, f[2:end])
end

dist(a, b) = count(a .!= b) / length(a)

function tree(names, rng)
    nodes = [(n, Float64.(words[n])) for n in shuffle(rng, names)]
    while length(nodes) > 1
        best = (Inf, 1, 2)
        for i in eachindex(nodes), j in 1:i-1
            d = sum(abs.(nodes[i][2] .- nodes[j][2])) + 1e-9 * rand(rng)
            d < best[1] && (best = (d, j, i))
        end
        _, a, b = best
        m = ("($(nodes[a][1]),$(nodes[b][1]))", (nodes[a][2] .+ nodes[b][2]) ./ 2)
        deleteat!(nodes, [a, b])
        push!(nodes, m)
    end
    nodes[1][1] * ";"
end

rng = MersenneTwister(17)
names = sort(collect(keys(words)))
for _ in 1:parse(Int, ARGS[2])
    println(tree(names, rng))
end
