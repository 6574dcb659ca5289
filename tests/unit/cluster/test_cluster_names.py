import importlib
import pkgutil

from jobsight import cluster


def test_public_names_are_sorted_and_there() -> None:
    names = [module.name for module in pkgutil.iter_modules(cluster.__path__)]
    assert "local" in names
    for module in (cluster, *(importlib.import_module(f"jobsight.cluster.{n}") for n in names)):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
