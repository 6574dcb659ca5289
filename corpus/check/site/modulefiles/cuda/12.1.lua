help([[cuda]])
whatis("Version: 12.1")
prepend_path("PATH", "/apps/cuda/12.1/bin")
