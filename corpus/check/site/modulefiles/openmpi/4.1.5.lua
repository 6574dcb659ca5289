help([[openmpi]])
whatis("Version: 4.1.5")
prepend_path("PATH", "/apps/openmpi/4.1.5/bin")
