help([[R]])
whatis("Version: 4.3.1")
prepend_path("PATH", "/apps/R/4.3.1/bin")
