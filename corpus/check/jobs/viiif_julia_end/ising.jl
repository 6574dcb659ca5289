using Random

function sweep!(s, beta)
    n = size(s, 1)
    for i in 1:n, j in 1:n
        h = s[mod1(i + 1, n), j] + s[i, mod1(j + 1, n)]
        if rand() < exp(-2beta * s[i, j] * h)
            s[i, j] *= -1
    end
end

n = parse(Int, ARGS[1])
s = rand([-1, 1], n, n)
foreach(_ -> sweep!(s, 0.44), 1:100)
println(sum(s) / n^2)
