help([[lammps]])
whatis("Version: 2023")
prepend_path("PATH", "/apps/lammps/2023/bin")
