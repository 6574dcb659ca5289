help([[python]])
whatis("Version: 3.11.3")
prepend_path("PATH", "/apps/python/3.11.3/bin")
