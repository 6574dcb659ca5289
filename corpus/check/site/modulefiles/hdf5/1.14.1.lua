help([[hdf5]])
whatis("Version: 1.14.1")
prepend_path("PATH", "/apps/hdf5/1.14.1/bin")
