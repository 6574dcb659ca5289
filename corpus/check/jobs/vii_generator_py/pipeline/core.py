import abc
import contextlib
import functools
import typing as t


class Stage(abc.ABC):
    registry: t.ClassVar[dict[str, type["Stage"]]] = {}

    def __init_subclass__(cls, /, name=None, **kw):
        super().__init_subclass__(**kw)
        Stage.registry[name or cls.__name__.lower()] = cls

    @abc.abstractmethod
    def __call__(self, x): ...


class Square(Stage):
    def __call__(self, x):
        return x ** 2


class Neg(Stage, name="negative"):
    __slots__ = ()

    def __call__(self, x):
        return -x


@contextlib.contextmanager
def timed(label):
    try:
        yield label
    finally:
        pass


def run(n, *names):
    stages = [Stage.registry[k]() for k in names or Stage.registry]
    with timed("all") as lab:
        total = 0
        for i in range(n):
            total += functools.reduce(lambda acc, f: f(acc), stages, i)
    return lab, total
