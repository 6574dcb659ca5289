help([[gcc]])
whatis("Version: 12.2.0")
prepend_path("PATH", "/apps/gcc/12.2.0/bin")
