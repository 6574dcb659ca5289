using Random, Printf
function sweep!(s, T)
    L = size(s, 1)
    for _ in 1:L*L
        i, j = rand(1:L), rand(1:L)
        nb = s[mod1(i+1,L),j] + s[mod1(i-1,L),j] + s[i,mod1(j+1,L)] + s[i,mod1(j-1,L)]
        dE = 2 * s[i,j] * nb
        if dE <= 0 || rand() < exp(-dE / T)
            s[i,j] = -s[i,j]
        end
    end
end
function main()
    T = parse(Float64, ARGS[1]); L = parse(Int, ARGS[2]); n = parse(Int, ARGS[3])
    Random.seed!(1234)
    s = ones(Int, L, L)
    for k in 1:n
        sweep!(s, T)
        k % 100 == 0 && @printf("%d %.6f\n", k, sum(s) / L^2)
    end
end
main()
