"""Random numbers: the same generator, so the same numbers."""
import torch

from . import Call, samples
from .make import ALL, FLOATS, HALVES, INTS, LAYOUTS

SIZES = [[3], [2, 3], [], [0], [16], [17], [40], [2, 2, 2]]


def packet(make):
    return make.operator.split("::")[1]


@samples("aten::rand", "aten::randn")
def sized(make):
    normal = packet(make) == "randn"
    for dtype in [None, *FLOATS]:
        for sizes in SIZES:
            yield Call(sizes, dtype=dtype, seed=make.random.randrange(1 << 32), exact=not normal,
                       tolerance=1e-6 if dtype not in HALVES else None)
    for seed in (0, 1, 2 ** 32 + 5):
        yield Call([5], seed=seed, exact=not normal)
    yield Call([4], layout=torch.strided, device=torch.device("cpu"), pin_memory=False, seed=7, exact=not normal)
    yield Call([-1], error=True)


@samples("aten::randperm")
def randperm(make):
    for n in range(0, 20):
        for dtype in (None, torch.int32):
            yield Call(n, seed=make.random.randrange(1 << 32), **({} if dtype is None else {"dtype": dtype}))
    for dtype in (torch.float32, torch.float64, torch.int16, torch.uint8):
        yield Call(9, dtype=dtype, seed=3)
    yield Call(-1, error=True)


@samples("aten::randint", "aten::randint.low")
def randint(make):
    for dtype in [None, *INTS, torch.float32]:
        for low, high in [(0, 10), (3, 4), (0, 100), (2, 7)]:
            for sizes in ([4], [2, 3], [0]):
                bounds = (low, high) if "low" in make.operator else (high,)
                yield Call(*bounds, sizes, dtype=dtype, seed=make.random.randrange(1 << 32))
    yield Call(*((5, 5) if "low" in make.operator else (0,)), [2], error=True)


@samples("aten::rand_like", "aten::randn_like")
def like(make):
    normal = "randn" in make.operator
    for dtype in FLOATS:
        for layout in LAYOUTS:
            yield Call(make.tensor((2, 3), dtype, layout), seed=make.random.randrange(1 << 32), exact=not normal)


@samples("aten::native_dropout", "aten::dropout")
def dropout(make):
    native = "native" in make.operator
    for dtype in FLOATS:
        for p in (0.5, 0.1, 0.9, 0.0, 1.0):
            for train in (True, False):
                for sizes in ((2, 3), (20,)):
                    tensor = make.tensor(sizes, dtype, make.random.choice(LAYOUTS))
                    yield Call(tensor, p, train, seed=make.random.randrange(1 << 32))
    yield Call(make.tensor(()), 0.5, True, seed=1)
    yield Call(make.tensor((0, 2)), 0.5, True, seed=1)
    if not native:
        yield Call(make.tensor((2, 3)), 1.5, True, error=True)
        yield Call(make.tensor((2, 3)), -0.5, True, error=True)


@samples("aten::bernoulli", "aten::bernoulli.p", "aten::uniform", "aten::normal_functional")
def drawn(make):
    name = packet(make)
    for dtype in FLOATS:
        for sizes in ((2, 3), (17,), (), (0, 2)):
            for layout in LAYOUTS[:4]:
                tensor = make.tensor(sizes, dtype, layout, 0, 1)
                seed = make.random.randrange(1 << 32)
                if name == "bernoulli":
                    yield Call(tensor, seed=seed)
                elif name == "bernoulli.p":
                    yield Call(tensor, make.random.choice([0.5, 0.1, 0.9]), seed=seed)
                elif name == "uniform":
                    yield Call(tensor, -1.0, make.random.choice([1.0, 2.5]), seed=seed)
                else:
                    yield Call(tensor, 0.5, 2.0, seed=seed, tolerance=2e-6 if dtype not in HALVES else None)
    if name == "bernoulli":
        yield Call(torch.tensor([1.5]), error=True)
    if name == "bernoulli.p":
        yield Call(make.tensor((2,)), 1.5, error=True)
