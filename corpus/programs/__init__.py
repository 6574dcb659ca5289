"""Programs with the resource that binds them, as measured."""
