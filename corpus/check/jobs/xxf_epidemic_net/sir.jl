using Random
using Base.Threads
using Statistics: mean

function network(n, k, rng)
    adj = [Int32[] for _ in 1:n]
    for i in 1:n, _ in 1:k
        j = rand(rng, 1:n)
        j == i && continue
        push!(adj[i], j); push!(adj[j], i)
    end
    adj
end

function epidemic(adj, beta, rng)
    n = length(adj)
    state = zeros(UInt8, n)
    front = Int32[rand(rng, 1:n)]
    state[front[1]] = 1
    total = 1
    while !isempty(front)            # ends: every node is infected at most once
        next = Int32[]
        for i in front
            for j in adj[i]
                if state[j] == 0 && rand(rng) < beta
                    state[j] = 1
                    push!(next, j)
                end
            end
            state[i] = 2
        end
        total += length(next)
        front = next
    end
    total
end

n, runs, out = parse(Int, ARGS[1]), parse(Int, ARGS[2]), ARGS[3]
adj = network(n, 6, MersenneTwister(1))
sizes = zeros(Int, runs)
@threads for r in 1:runs
    sizes[r] = epidemic(adj, 0.12, MersenneTwister(100 + r))
end
open(io -> foreach(s -> println(io, s), sizes), out, "w")
println("mean size ", mean(sizes))
