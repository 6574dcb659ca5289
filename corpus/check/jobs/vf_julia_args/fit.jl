using DelimitedFiles

data = readdlm(ARGS[1], ',')
println(size(data))
