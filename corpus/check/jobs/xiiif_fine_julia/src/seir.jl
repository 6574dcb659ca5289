module Seir

"largest number of infectious people and its day"
function peak(beta, pop; sigma = 0.2, gamma = 0.1, days = 400)
    s, e, i, best = pop - 10, 0.0, 10.0, (10.0, 0)
    for day in 1:days
        new = beta * s * i / pop
        ill = sigma * e
        s, e, i = s - new, e + new - ill, i + ill - gamma * i
        i > best[1] && (best = (i, day))
    end
    best
end

end
