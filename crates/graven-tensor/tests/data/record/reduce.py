"""Reductions, scans, sorting."""
import torch

from . import Call, samples
from .make import ALL, BOOL, COMPLEX, FLOATS, HALVES, INF, INTS, LAYOUTS, NAN

ORDERED = [*FLOATS, *INTS, *BOOL]


def packet(make):
    return make.operator.split("::")[1]


def nan_tensor(dtype):
    return torch.tensor([[1.0, NAN, 2.0], [INF, -INF, 0.0], [-0.0, 0.0, NAN]], dtype=dtype)


def inputs(make, dtypes, sizes=(2, 3, 4)):
    """A tensor in every dtype, and in every layout."""
    for dtype in dtypes:
        yield make.tensor(sizes, dtype)
        yield make.tensor((2, 3), dtype, make.random.choice(LAYOUTS[1:4]))
    for layout in LAYOUTS:
        yield make.tensor(sizes, torch.float32, layout)
    for dtype in FLOATS[:2]:
        if dtype in dtypes:
            yield nan_tensor(dtype)


SMALL = [(), (1,), (0,), (0, 3), (3, 0), (1, 1, 1)]


@samples("aten::sum", "aten::mean", "aten::prod", "aten::any", "aten::all", "aten::max", "aten::min", "aten::median",
         "aten::trace")
def whole(make):
    name = packet(make)
    dtypes = {"mean": [*FLOATS, *COMPLEX], "max": ORDERED, "min": ORDERED, "median": [*FLOATS, *INTS]}.get(name, ALL)
    chooses = name in ("max", "min", "median")
    if name == "trace":
        for dtype in ALL:
            for layout in LAYOUTS[:4]:
                if dtype is not torch.bool and dtype not in HALVES:
                    yield Call(make.tensor((3, 2), dtype, layout))
        yield Call(make.tensor((0, 3)))
        yield Call(make.tensor((3,)), error=True)
        return
    for tensor in inputs(make, dtypes):
        yield Call(tensor, exact=chooses)
        if name in ("sum", "mean", "prod") and make.random.random() < 0.4:
            yield Call(tensor, dtype=torch.float64 if not tensor.is_complex() else torch.complex128)
    for sizes in SMALL:
        empty = 0 in sizes
        yield Call(make.tensor(sizes), error=empty and name in ("max", "min"))
    if name in ("sum", "prod"):
        yield Call(make.tensor((2, 3)), dtype=torch.int64)
        yield Call(make.tensor((2, 3), torch.uint8), dtype=torch.float16)
        yield Call(make.tensor((2, 3), torch.int32), dtype=torch.bool)
    if name == "mean":
        yield Call(make.tensor((2, 3), torch.int64), dtype=torch.float32)
        yield Call(make.tensor((2, 3), torch.int64), error=True)
    if name == "sum":
        yield Call(make.tensor((60,), torch.float16, "contiguous", 90, 100))
        yield Call(make.tensor((60,), torch.uint8, "contiguous", 200, 250))
        yield Call(torch.full((3,), 9223372036854775807))


DIMS = [[0], [1], [-1], [0, 2], [-1, 0], [0, 1, 2], []]


def keepdim(make):
    return {"keepdim": True} if make.random.random() < 0.4 else {}


@samples("aten::sum.dim_IntList", "aten::mean.dim", "aten::nansum", "aten::amax", "aten::amin", "aten::any.dims",
         "aten::all.dims", "aten::logsumexp", "aten::linalg_vector_norm", "aten::count_nonzero.dim_IntList")
def by_dims(make):
    name = packet(make)
    dtypes = {
        "mean.dim": [*FLOATS, *COMPLEX], "amax": ORDERED, "amin": ORDERED, "nansum": ORDERED,
        "logsumexp": [*FLOATS, *INTS], "linalg_vector_norm": [*FLOATS, *COMPLEX],
    }.get(name, ALL)
    reduces = name in ("sum.dim_IntList", "mean.dim", "nansum", "linalg_vector_norm")
    exact = name in ("amax", "amin")
    needs = name in ("amax", "amin")

    def call(tensor, dims, **kwargs):
        if "count" not in name:
            kwargs |= keepdim(make)
        if name == "linalg_vector_norm":
            order = make.random.choice([2, 1, 0, 3, INF, -INF, 0.5, -1])
            if tensor.numel() == 0 and order in (INF, -INF, -1):
                order = 2
            return Call(tensor, order, dims, **kwargs)
        return Call(tensor, dims, exact=exact, **kwargs)

    # Without dimensions torch's logsumexp fails now and then.
    every = DIMS[:-1] if name == "logsumexp" else DIMS
    for dtype in dtypes:
        for dims in make.random.sample(every, 4):
            yield call(make.tensor((2, 3, 4), dtype, make.random.choice(LAYOUTS)), dims)
    for dims in every:
        for layout in LAYOUTS:
            yield call(make.tensor((2, 3, 4), torch.float32, layout), dims)
    for dtype in FLOATS:
        yield call(nan_tensor(dtype), [make.random.choice([0, 1])])
    for sizes in [(), (1,), (0, 3), (2, 0)]:
        for dims in ([0], [-1], *([] if name == "logsumexp" else [[]])):
            size = (sizes or (1,))[dims[0]] if dims else min(sizes or (1,))
            yield call(make.tensor(sizes), dims) if not (needs and size == 0) else \
                Call(make.tensor(sizes), dims, error=True)
    if name in ("sum.dim_IntList", "mean.dim", "nansum"):
        yield Call(make.tensor((2, 3)), None)
        for dtype in (torch.float64, torch.float16):
            yield Call(make.tensor((2, 3)), [0], dtype=dtype)
        yield Call(make.tensor((2, 3), torch.int32), [0], True, dtype=torch.float32)
        yield Call(make.tensor((2, 3), torch.bool), [-1], True, dtype=torch.float32)
    if name == "any.dims" or name == "all.dims":
        yield Call(make.tensor((2, 3)), None)
    if name == "linalg_vector_norm":
        for order in (2, 1, 0, 3.5, INF, -INF):
            yield Call(make.tensor((2, 3)), order)
            yield Call(make.tensor((2, 3), torch.float16), order, [1], dtype=torch.float32)
        yield Call(make.tensor((2, 3), torch.int64), error=True)
        yield Call(make.tensor((2, 3)), 2, [2], error=True)
        return
    yield Call(make.tensor((2, 3)), [2], error=True)
    if "count" not in name:
        yield Call(make.tensor((2, 3)), [0, 0], error=True)


@samples("aten::any.dim", "aten::all.dim", "aten::prod.dim_int", "aten::argmax", "aten::argmin", "aten::max.dim",
         "aten::min.dim", "aten::count_nonzero", "aten::cummax", "aten::cummin", "aten::cumsum", "aten::cumsum_",
         "aten::cumprod", "aten::logcumsumexp", "aten::median.dim", "aten::mode")
def by_dim(make):
    name = packet(make)
    scans = name.startswith(("cum", "logcum"))
    chooses = name in ("argmax", "argmin", "max.dim", "min.dim", "cummax", "cummin")
    dtypes = [*FLOATS, *INTS] if name in ("argmax", "argmin") else ORDERED if chooses else ALL
    if name == "logcumsumexp":
        dtypes = FLOATS
    if name == "median.dim":
        dtypes = [*FLOATS, *INTS]
    if name == "mode":
        dtypes = ORDERED
    if name == "cumsum_":
        dtypes = [*FLOATS, *INTS, *COMPLEX]
    optional = name in ("argmax", "argmin", "count_nonzero")
    exact = chooses and name not in ("logcumsumexp",)

    def call(tensor, dim):
        kwargs = {} if scans or name == "count_nonzero" else keepdim(make)
        return Call(tensor, dim, exact=exact, **kwargs)

    for dtype in dtypes:
        for dim in (0, 1, -1):
            layout = make.random.choice(LAYOUTS[:4])
            yield call(make.tensor((2, 3, 4), dtype, layout), dim)
    for dim in (0, 1, 2, -1, -2):
        for layout in LAYOUTS:
            # torch's median of an expanded tensor is wrong: it writes where it reads.
            if layout != "expanded" or not (make.is_inplace or name == "median.dim"):
                yield call(make.tensor((2, 3, 4), torch.float32, layout, -2, 2), dim)
    # Ties.
    if chooses or name in ("mode", "median.dim"):
        for dtype in (torch.float32, torch.int64, torch.int8):
            for dim in (0, 1):
                yield call(make.ints((4, 5), 0, 3).to(dtype), dim)
    if name != "mode":
        for dtype in FLOATS:
            for dim in (0, 1):
                yield call(nan_tensor(dtype), dim)
    for sizes in [(), (1,), (0, 3), (2, 0)]:
        for dim in (0, -1):
            size = (sizes or (1,))[dim]
            fails = size == 0 and (name in ("argmax", "argmin", "max.dim", "min.dim", "median.dim", "mode"))
            yield Call(make.tensor(sizes), dim, error=True) if fails else call(make.tensor(sizes), dim)
    if optional:
        for tensor in inputs(make, dtypes):
            yield Call(tensor)
        if name != "count_nonzero":
            yield Call(make.tensor((0,)), error=True)
            yield Call(make.tensor((2, 3)), None, True)
    if name in ("cumsum", "cumprod", "prod.dim_int"):
        for dtype in (torch.float64, torch.int64, torch.float16):
            yield Call(make.tensor((2, 3)), 0, dtype=dtype)
            yield Call(make.tensor((2, 3), torch.int32), -1, dtype=dtype)
    yield Call(make.tensor((2, 3)), 2, error=True)
    yield Call(make.tensor((2, 3)), -3, error=True)
    if chooses:
        yield Call(make.tensor((2, 3), torch.complex64), 0, error=True)


@samples("aten::var.correction", "aten::std.correction", "aten::var_mean.correction", "aten::var.dim",
         "aten::var_mean.dim", "aten::std.dim")
def variance(make):
    corrects = "correction" in make.operator
    for dtype in [*FLOATS, *COMPLEX]:
        for dims in DIMS:
            if dtype in COMPLEX and "std" in make.operator:
                continue
            tensor = make.tensor((2, 3, 4), dtype, make.random.choice(LAYOUTS))
            if corrects:
                yield Call(tensor, dims, correction=make.random.choice([0, 1, 2, 0.5]), **keepdim(make))
            else:
                yield Call(tensor, dims, make.random.random() < 0.5, **keepdim(make))
    for layout in LAYOUTS:
        yield Call(make.tensor((2, 3, 4), torch.float32, layout), [1])
        yield Call(make.tensor((2, 3, 4), torch.float32, layout), None)
    for sizes in [(), (1,), (0, 3), (2, 0), (1, 4)]:
        yield Call(make.tensor(sizes), [0])
        yield Call(make.tensor(sizes), [-1], **({"correction": 0} if corrects else {"unbiased": False}))
    yield Call(nan_tensor(torch.float32), [0])
    yield Call(make.tensor((2, 3), torch.float32, "contiguous", 1000, 1001), [1])
    yield Call(make.tensor((2, 3), torch.int64), [0], error=True)
    yield Call(make.tensor((2, 3)), [2], error=True)


@samples("aten::sort", "aten::sort.stable", "aten::argsort", "aten::argsort.stable")
def sort(make):
    stable = {"stable": True} if make.operator.endswith("stable") else {}
    for dtype in ORDERED:
        for descending in (False, True):
            tensor = make.tensor((3, 5), dtype, make.random.choice(LAYOUTS))
            yield Call(tensor, dim=make.random.choice([0, 1, -1]), descending=descending, **stable)
            yield Call(make.special(dtype), dim=0, descending=descending, **stable)
    for dim in (0, 1, -1):
        for layout in LAYOUTS:
            for descending in (False, True):
                yield Call(make.tensor((2, 3, 4), torch.float32, layout), dim=dim, descending=descending, **stable)
    # Without `stable` the order of many equal values is not said.
    for dtype in (torch.float32, torch.int64) if stable else ():
        for descending in (False, True):
            yield Call(make.ints((20,), 0, 4).to(dtype), dim=0, descending=descending, **stable)
    for sizes in [(), (1,), (0,), (0, 3), (3, 0)]:
        yield Call(make.tensor(sizes), dim=0, **stable)
    yield Call(nan_tensor(torch.float32), dim=1, **stable)
    yield Call(nan_tensor(torch.float32), dim=0, descending=True, **stable)
    yield Call(make.tensor((2, 3)), dim=2, **stable, error=True)
    yield Call(make.tensor((2, 3), torch.complex64), dim=0, **stable, error=True)


def distinct(make, sizes, dtype):
    """Different numbers: which of equal ones is chosen is not said."""
    count = 1
    for size in sizes:
        count *= size
    values = list(range(-(count // 2), count - count // 2)) if dtype is not torch.uint8 else list(range(count))
    make.random.shuffle(values)
    return torch.tensor(values, dtype=dtype).reshape(sizes)


@samples("aten::topk")
def topk(make):
    for dtype in [*FLOATS, *INTS]:
        for k, dim, largest in [(1, -1, True), (2, 0, False), (3, 1, True), (0, 1, True)]:
            yield Call(distinct(make, (3, 5), dtype), k, dim, largest)
    for layout in ("transposed", "permuted"):
        for k in (1, 3):
            base = distinct(make, (5, 4), torch.float32).t() if layout == "transposed" else \
                distinct(make, (2, 4, 3), torch.float32).permute(2, 0, 1)
            yield Call(base, k)
            yield Call(base, k, 0, False)
    yield Call(torch.tensor([1.0, NAN, 3.0, -INF, INF]), 3)
    yield Call(torch.tensor([1.0, NAN, 3.0, -INF, INF]), 3, largest=False)
    yield Call(make.tensor(()), 1)
    yield Call(make.tensor((0, 3)), 2)
    yield Call(make.tensor((3,)), 4, error=True)
    yield Call(make.tensor((3,)), -1, error=True)
    yield Call(make.tensor((3,)), 1, 1, error=True)


@samples("aten::searchsorted.Tensor", "aten::searchsorted.Scalar", "aten::bucketize.Tensor")
def searchsorted(make):
    buckets = "bucketize" in make.operator
    scalar = "Scalar" in make.operator
    for dtype in [*FLOATS, *INTS]:
        for right in (False, True):
            values = make.tensor((3, 4), dtype)
            edges = make.tensor((5,), dtype).sort()[0]
            if scalar:
                yield Call(edges, 2, right=right)
            elif buckets:
                yield Call(values, edges, right=right)
                yield Call(values, edges, out_int32=True)
            else:
                yield Call(edges, values, right=right)
                yield Call(edges, values, out_int32=True, side="right" if right else "left")
                rows = make.tensor((3, 5), dtype).sort(-1)[0]
                yield Call(rows, values, right=right)
    if scalar or buckets:
        return
    edges = torch.tensor([3.0, 1.0, 2.0])
    yield Call(edges, make.tensor((4,)), sorter=torch.tensor([1, 2, 0]))
    yield Call(make.tensor((0,)), make.tensor((2,)))
    yield Call(make.tensor((3,)), make.tensor(()))
    yield Call(torch.tensor([1.0, 2.0, NAN]), torch.tensor([NAN, 5.0, 0.0]))
    yield Call(make.tensor((3, 2)), make.tensor((2, 2)), error=True)
    yield Call(edges, make.tensor((2,)), right=True, side="left", error=True)


@samples("aten::diff")
def diff(make):
    for dtype in ALL:
        for layout in LAYOUTS[:2]:
            yield Call(make.tensor((3, 4), dtype, layout))
    for n in (0, 1, 2, 3, 9):
        for dim in (0, 1):
            yield Call(make.tensor((3, 4)), n, dim)
    yield Call(make.tensor((3, 4)), 1, -1, make.tensor((3, 1)), make.tensor((3, 2)))
    yield Call(make.tensor((3,)), 2, 0, make.tensor((2,)))
    yield Call(make.tensor(()), error=True)
    yield Call(make.tensor((3,)), -1, error=True)
