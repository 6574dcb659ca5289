help([[bwa]])
whatis("Version: 0.7.17")
prepend_path("PATH", "/apps/bwa/0.7.17/bin")
