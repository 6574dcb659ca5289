f(x) = exp(-x^2)

function trapezoid(f, a, b, n)
    h = (b - a) / n
    total = (f(a) + f(b)) / 2
    for i in 1:n-1
        total += f(a + i * h)
    return h * total
end

n = length(ARGS) > 0 ? parse(Int, ARGS[1]) : 100
println(trapezoid(f, 0.0, 3.0, n))
