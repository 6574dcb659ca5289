"""The models, one file each, behind one protocol."""
