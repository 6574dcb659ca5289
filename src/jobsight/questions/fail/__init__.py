"""Will it fail? Jobs that wait or have just begun, by what became of others."""
