"""It is held: release or remove?"""
