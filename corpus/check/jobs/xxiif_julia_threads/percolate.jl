using Random
function spans(p, L, rng)
    open = rand(rng, L, L) .< p
    stack = [(1, j) for j in 1:L if open[1, j]]
    seen = falses(L, L)
    while true
        isempty(stack) && return false
        i, j = pop!(stack)
        seen[i, j] && continue
        seen[i, j] = true
        i == L && return true
        for (di, dj) in ((1, 0), (-1, 0), (0, 1), (0, -1))
            a, b = i + di, j + dj
            if 1 <= a <= L && 1 <= b <= L && open[a, b] && !seen[a, b]
                push!(stack, (a, b))
            end
        end
    end
end
p = parse(Float64, ARGS[1]); L = parse(Int, ARGS[2]); rank = parse(Int, ARGS[3])
hits = zeros(Int, 1000)
Threads.@threads for k in 1:1000
    hits[k] = spans(p, L, MersenneTwister(1000 * rank + k))
end
println(rank, " ", p, " ", sum(hits) / 1000)
