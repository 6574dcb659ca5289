scans = 40
voxels = 256 * 256 * 180
volume = bytearray(scans * voxels * 8)
print(len(volume))
