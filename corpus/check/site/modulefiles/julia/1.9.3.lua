help([[julia]])
whatis("Version: 1.9.3")
prepend_path("PATH", "/apps/julia/1.9.3/bin")
