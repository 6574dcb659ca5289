help([[blast]])
whatis("Version: 2.14")
prepend_path("PATH", "/apps/blast/2.14/bin")
