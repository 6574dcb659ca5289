help([[gdal]])
whatis("Version: 3.6")
prepend_path("PATH", "/apps/gdal/3.6/bin")
