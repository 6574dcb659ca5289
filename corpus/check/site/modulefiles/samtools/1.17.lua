help([[samtools]])
whatis("Version: 1.17")
prepend_path("PATH", "/apps/samtools/1.17/bin")
