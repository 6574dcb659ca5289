help([[gromacs]])
whatis("Version: 2023.2")
prepend_path("PATH", "/apps/gromacs/2023.2/bin")
