help([[anaconda3]])
whatis("Version: 2023.09")
prepend_path("PATH", "/apps/anaconda3/2023.09/bin")
