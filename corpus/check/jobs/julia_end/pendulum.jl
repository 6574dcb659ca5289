function energy(theta, omega; g = 9.81, l = 1.0)
    return 0.5 * (l * omega)^2 - g * l * cos(theta)
end

function run(n)
    theta, omega = 0.1, 0.0
    for i in 1:n
        omega -= 9.81 * sin(theta) * 1e-3
        theta += omega * 1e-3
    return energy(theta, omega)
end

println(run(1000))
