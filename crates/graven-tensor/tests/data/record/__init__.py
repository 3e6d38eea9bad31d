"""Samples of torch's operators, by family.

A family is a module whose generators are registered for operators:

    @samples("aten::neg", "aten::abs")
    def unary(make):
        for dtype in FLOATS:
            yield Call(make.tensor((2, 3), dtype))

`make` (see `make.py`) draws tensors; `make.operator` is the operator's name. Arguments are given
as torch takes them. A call that torch has no kernel for in its dtype is left out; any other
failure must be marked `error=True`.
"""
import dataclasses
import importlib

FAMILIES = ["composed", "factory", "foreach", "index", "linalg", "nn", "norm", "pointwise", "random", "reduce", "view"]

GENERATORS = {}


@dataclasses.dataclass
class Call:
    """A call of an operator, and how its results are to be compared."""

    args: tuple
    kwargs: dict
    # torch refuses the call.
    error: bool = False
    # Floats must be equal in every bit (NaN equals NaN); else they must be near.
    exact: bool = False
    # The values are not defined: only dtype, sizes and strides are compared.
    geometry: bool = False
    # The seed of the random number generator before the call.
    seed: int | None = None
    # How far floats may be off, relative to the greater of 1 and the value; by dtype if None.
    tolerance: float | None = None

    def __init__(self, *args, error=False, exact=False, geometry=False, seed=None, tolerance=None, **kwargs):
        self.args, self.kwargs = args, kwargs
        self.error, self.exact, self.geometry = error, exact, geometry
        self.seed, self.tolerance = seed, tolerance


def samples(*operators):
    """Registers a generator for operators (`aten::add.Tensor`)."""

    def register(generator):
        family = generator.__module__.rsplit(".", 1)[-1]
        for operator in operators:
            assert operator not in GENERATORS, f"{operator} has two generators"
            GENERATORS[operator] = (family, generator)
        return generator

    return register


def load():
    """The generators of all families, by operator."""
    for family in FAMILIES:
        importlib.import_module(f"record.{family}")
    return GENERATORS
