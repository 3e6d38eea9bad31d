"""Element-wise operators."""
import torch

from . import Call, samples
from .make import ALL, BOOL, COMPLEX, FLOATS, HALVES, INF, INTS, LAYOUTS, NAN

SIZES = [(2, 3), (), (0, 2), (2, 1, 3), (3,), (2, 2, 1, 3)]


def packet(make):
    return make.operator.split("::")[1]


def unary_inputs(make, low=None, high=None):
    """One tensor, in every dtype and layout, and edge values."""
    for dtype in ALL:
        yield make.special(dtype)
        yield make.tensor((2, 3), dtype, make.random.choice(LAYOUTS[:4]), low, high)
        if dtype in (torch.float32, torch.float64, torch.int8):
            yield make.tensor((20,), dtype, "contiguous", low, high)
    yield from make.layouts((2, 3, 4), torch.float32, low, high)
    for sizes in SIZES:
        yield make.tensor(sizes, make.random.choice(FLOATS), make.random.choice(LAYOUTS[:4]), low, high)
    yield make.tensor((2, 3, 2, 2), torch.float32, "channels_last", low, high)


UNARY_EXACT = ["abs", "neg", "neg_", "ceil", "floor", "trunc", "round", "frac", "sign", "isnan", "isinf", "isfinite",
               "logical_not", "bitwise_not", "relu", "relu_", "relu6_", "square", "reciprocal", "reciprocal_"]
UNARY_NEAR = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "expm1", "hardsigmoid",
              "hardswish", "hardswish_", "lgamma", "log", "log10", "log1p", "log2", "log_sigmoid", "mish", "rsqrt",
              "selu", "sigmoid", "sigmoid_", "silu", "silu_", "sin", "sinh", "special_expit", "sqrt", "tan", "tanh", "tanh_"]
DOMAINS = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-1, 1), "acosh": (1, 5), "log": (0, 9), "log2": (0, 9),
           "log10": (0, 9), "log1p": (-1, 9), "sqrt": (0, 9), "rsqrt": (0, 9)}


@samples(*[f"aten::{name}" for name in UNARY_EXACT + UNARY_NEAR])
def unary(make):
    name = packet(make)
    for tensor in unary_inputs(make, *DOMAINS.get(name, (None, None))):
        dtype = tensor.dtype
        if dtype in (torch.bool,) and name in ("neg", "neg_", "sign_", "relu6_", "frac"):
            continue
        if name in ("reciprocal_", "sigmoid_", "tanh_") and not (dtype.is_floating_point or dtype.is_complex):
            continue
        if name == "frac" and not dtype.is_floating_point:
            continue
        if name == "sign" and dtype.is_complex:
            continue
        exact = name in UNARY_EXACT and not dtype.is_complex
        yield Call(tensor, exact=exact)
    if name == "neg":
        yield Call(make.tensor((2,), torch.bool), error=True)
        yield Call(make.tensor((3,), torch.complex64).conj())
    if name == "bitwise_not":
        yield Call(make.tensor((2,)), error=True)
    if name in ("reciprocal_", "sigmoid_", "tanh_"):
        yield Call(make.tensor((2,), torch.int64), error=True)
    if make.is_inplace:
        yield Call(make.tensor((2, 3), layout="expanded"), error=True)


@samples("aten::gelu", "aten::celu", "aten::elu", "aten::elu_", "aten::leaky_relu", "aten::leaky_relu_",
         "aten::hardtanh", "aten::hardtanh_", "aten::softplus", "aten::softshrink", "aten::threshold", "aten::logit",
         "aten::nan_to_num")
def activations(make):
    name = packet(make)
    options = {
        "gelu": [{}, {"approximate": "tanh"}],
        "celu": [{}, {"alpha": 0.5}, {"alpha": -2.0}],
        "elu": [{}, {"alpha": 0.5}, {"alpha": 2, "scale": 1.5, "input_scale": 0.5}],
        "elu_": [{}, {"alpha": 0.5}, {"alpha": 2, "scale": 1.5, "input_scale": 0.5}],
        "leaky_relu": [{}, {"negative_slope": 0.5}, {"negative_slope": -1}],
        "leaky_relu_": [{}, {"negative_slope": 0.5}, {"negative_slope": 2}],
        "hardtanh": [{}, {"min_val": -0.5, "max_val": 2}, {"min_val": 0, "max_val": 1}],
        "hardtanh_": [{}, {"min_val": -0.5, "max_val": 2}, {"min_val": 0, "max_val": 6}],
        "softplus": [{}, {"beta": 2}, {"beta": 0.5, "threshold": 1}],
        "softshrink": [{}, {"lambd": 1.0}, {"lambd": 0}],
        "threshold": [{"threshold": 0, "value": -1}, {"threshold": 0.5, "value": 2.5}],
        "logit": [{}, {"eps": 0.1}],
        "nan_to_num": [{}, {"nan": 2.5}, {"nan": -1.0, "posinf": 7.0, "neginf": -7.0}],
    }[name]
    domain = (0, 1) if name == "logit" else (None, None)
    for number, tensor in enumerate(unary_inputs(make, *domain)):
        is_float = tensor.is_floating_point()
        if name == "gelu" and is_float:
            # torch's vectors make NaN of infinity, its scalars do not.
            tensor = torch.where(tensor.abs() > 1e4, torch.ones_like(tensor), tensor)
        if not is_float and name not in ("nan_to_num", "threshold", "logit"):
            continue
        if name == "threshold" and not is_float and tensor.dtype is torch.bool:
            continue
        yield Call(tensor, **options[number % len(options)])
        if is_float:
            yield Call(tensor.clone(), **options[(number + 1) % len(options)])
    if name == "softshrink":
        yield Call(make.tensor((2,)), lambd=-1.0, error=True)
    if name == "gelu":
        yield Call(make.tensor((2,)), approximate="cubic", error=True)


@samples("aten::glu")
def glu(make):
    for dtype in FLOATS:
        for layout in LAYOUTS:
            yield Call(make.tensor((4, 6), dtype, layout), make.random.choice([0, 1, -1]))
    yield Call(make.tensor((2, 3)), error=True)
    yield Call(make.tensor(()), error=True)


def pairs(make, dtypes=ALL, low=None, high=None, mixed=True, written=False):
    """Two tensors: of every dtype, of two dtypes, broadcast, in every pair of layouts."""
    def draw(sizes, dtype=torch.float32, layout="contiguous"):
        return make.tensor(sizes, dtype, layout, low, high)

    for dtype in dtypes:
        yield draw((2, 3), dtype), draw((2, 3), dtype)
        if dtype in (torch.float32, torch.int32):
            yield draw((17,), dtype), draw((17,), dtype)
        yield draw((2, 3), dtype, "transposed"), draw((3,), dtype, "strided")
    for layout in LAYOUTS:
        for other in make.random.sample(LAYOUTS, 1):
            if not (written and layout == "expanded"):
                yield draw((2, 3, 2), layout=layout), draw((2, 3, 2), layout=other)
    shapes = [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((), ()), ((0, 3), (1, 3)), ((2, 1, 3), (4, 1))]
    for left, right in shapes:
        if not written or torch.broadcast_shapes(left, right) == left:
            yield draw(left), draw(right)
        if not written or torch.broadcast_shapes(left, right) == right:
            yield draw(right), draw(left)
    yield draw((2, 3, 2, 2), layout="channels_last"), draw((2, 3, 2, 2), layout="channels_last")
    yield draw((2, 3, 2, 2), layout="channels_last"), draw((3, 1, 1))
    if mixed:
        every = [dtype for dtype in dtypes]
        for dtype in every:
            for other in make.random.sample(every, 2):
                if not written or torch.can_cast(torch.promote_types(dtype, other), dtype):
                    yield draw((2, 2), dtype), draw((2, 2), other)
        for dtype in every:
            other = make.random.choice(every)
            if not written or torch.can_cast(torch.promote_types(dtype, other), dtype):
                yield draw((2,), dtype), draw((), other)
            if not written:
                yield draw((), dtype), draw((2,), other)


EXACT_BINARY = ["add.Tensor", "add_.Tensor", "sub.Tensor", "sub_.Tensor", "mul.Tensor", "mul_.Tensor", "div.Tensor",
                "div_.Tensor", "maximum", "minimum", "min.other", "max.other", "fmod.Tensor", "remainder.Tensor",
                "floor_divide", "floor_divide_.Tensor", "heaviside", "eq.Tensor", "ne.Tensor", "lt.Tensor",
                "le.Tensor", "gt.Tensor", "ge.Tensor", "logical_and", "logical_or", "logical_or_", "logical_xor"]
COMPARED = ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_or_", "logical_xor"]
NO_COMPLEX = ["maximum", "minimum", "min", "max", "fmod", "remainder", "floor_divide", "floor_divide_", "heaviside",
              "lt", "le", "gt", "ge", "atan2", "hypot", "logaddexp"]


@samples(*[f"aten::{name}" for name in EXACT_BINARY], "aten::atan2", "aten::hypot", "aten::logaddexp",
         "aten::pow.Tensor_Tensor")
def binary(make):
    name = packet(make).split(".")[0]
    dtypes = [*FLOATS, *INTS, *BOOL] if name in NO_COMPLEX else ALL
    if name in ("hypot", "logaddexp"):
        dtypes = FLOATS
    if name == "div_":
        dtypes = [*FLOATS, *COMPLEX]
    divides = name in ("fmod", "remainder", "floor_divide", "floor_divide_")
    exact = packet(make) in EXACT_BINARY

    def fits(left, right):
        """Whether torch defines the call."""
        both = torch.result_type(left, right)
        is_integer = not both.is_floating_point and not both.is_complex
        if name in ("sub", "sub_") and torch.bool in (left.dtype, right.dtype):
            return False
        if (divides or name == "pow") and both is torch.bool:
            return False
        if divides and is_integer and (right == 0).any():
            return False
        if name == "pow" and is_integer and (right < 0).any():
            return False
        if make.is_inplace and name != "logical_or_":
            return torch.can_cast(both, left.dtype) and not (name == "div_" and is_integer)
        return not (name == "heaviside" and left.dtype != right.dtype)

    for dtype in dtypes:
        left, right = make.special_pair(dtype)
        if divides and dtype.is_floating_point:
            # torch's remainders of great numbers are off.
            left = torch.where(left.abs() > 1e4, torch.full_like(left, 7), left)
        if divides and not dtype.is_floating_point:
            right = torch.where(right == 0, torch.tensor(3, dtype=dtype), right)
            # The least integer by -1 is for the machine to say.
            right = torch.where(right == -1, torch.tensor(2, dtype=dtype), right)
        if name == "pow" and not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool:
            right = right.abs() % 9
        if fits(left, right):
            yield Call(left, right, exact=exact and not dtype.is_complex)
    for left, right in pairs(make, dtypes, written=make.is_inplace):
        if divides and not right.is_floating_point() and right.dtype is not torch.bool:
            right = torch.where(right == 0, torch.tensor(5, dtype=right.dtype), right)
        if name == "pow" and right.dtype in INTS:
            right = right.abs()
        if fits(left, right):
            both = torch.result_type(left, right)
            yield Call(left, right, exact=exact and not both.is_complex)
    if name in ("add", "add_", "sub", "sub_"):
        for dtype in (torch.float32, torch.int32, torch.float16, torch.complex64):
            yield Call(make.tensor((2, 3), dtype), make.tensor((2, 3), dtype), alpha=3)
        yield Call(make.tensor((2, 3)), make.tensor((2, 3)), alpha=0.25)
        yield Call(make.tensor((2,), torch.int64), make.tensor((2,), torch.int64), alpha=0.5, error=True)
    if name in ("sub", "sub_"):
        yield Call(make.tensor((2,), torch.bool), make.tensor((2,), torch.bool), error=True)
    if name in ("floor_divide", "remainder", "fmod", "floor_divide_"):
        yield Call(make.ints((2,), 1, 5), make.values([1, 0], torch.int64), error=True)
    if make.is_inplace:
        yield Call(make.tensor((3,)), make.tensor((2, 3)), error=True)
        if name != "logical_or_":
            yield Call(make.tensor((3,), torch.int64), make.tensor((3,)), error=True)
    if name in ("lt", "gt", "maximum", "remainder"):
        yield Call(make.tensor((2,), torch.complex64), make.tensor((2,), torch.complex64), error=True)
    yield Call(make.tensor((2, 3)), make.tensor((4,)), error=True)


@samples("aten::bitwise_and.Tensor", "aten::bitwise_or.Tensor", "aten::bitwise_xor.Tensor",
         "aten::bitwise_xor_.Tensor", "aten::__and__.Tensor")
def bitwise(make):
    dtypes = [*INTS, *BOOL]
    for dtype in dtypes:
        yield Call(*make.special_pair(dtype))
    for left, right in pairs(make, dtypes, written=make.is_inplace):
        if not left.is_floating_point():
            yield Call(left, right)
    yield Call(make.tensor((2,)), make.tensor((2,)), error=True)
    yield Call(make.tensor((2, 3), torch.int64), make.tensor((2,), torch.int64), error=True)


def scalars(dtype):
    if dtype is torch.bool:
        return [True, 2, 2.5]
    if dtype.is_complex:
        return [2, 1.5, complex(1, -2)]
    if dtype.is_floating_point:
        return [2, -3, 0.5, True, 0.0, INF, NAN]
    return [3, 7, True, 2.5]


SCALAR = ["add.Scalar", "sub.Scalar", "mul.Scalar", "div.Scalar", "fmod.Scalar", "remainder.Scalar",
          "remainder_.Scalar", "rsub.Scalar", "eq.Scalar", "ne.Scalar", "lt.Scalar", "le.Scalar", "gt.Scalar",
          "ge.Scalar"]


@samples(*[f"aten::{name}" for name in SCALAR], "aten::pow.Tensor_Scalar", "aten::pow_.Scalar", "aten::pow.Scalar")
def with_number(make):
    name = packet(make).split(".")[0]
    reverse = packet(make) == "pow.Scalar"
    exact = packet(make) in SCALAR
    orders = name in ("lt", "le", "gt", "ge", "fmod", "remainder", "remainder_")

    def call(tensor, number):
        dtype = tensor.dtype
        is_bool = dtype is torch.bool
        is_integer = not dtype.is_floating_point and not dtype.is_complex
        both = torch.result_type(tensor, number)
        if orders and both.is_complex:
            return
        if name in ("sub", "rsub", "fmod", "remainder", "remainder_", "pow", "pow_") and both is torch.bool:
            return
        if name in ("sub", "rsub") and (is_bool or number is True):
            return
        if "pow" in name and is_bool and isinstance(number, bool):
            return
        if name in ("fmod", "remainder", "remainder_") and is_integer and number == 0:
            return
        if name in ("pow", "pow_") and is_integer and isinstance(number, int) and number < 0 and not reverse:
            return
        if reverse and is_integer and not is_bool and isinstance(number, int) and (tensor < 0).any():
            tensor = tensor.abs()
        if make.is_inplace and not torch.can_cast(both, dtype):
            return
        args = (number, tensor) if reverse else (tensor, number)
        yield Call(*args, exact=exact and not both.is_complex)

    for dtype in ALL:
        for number in scalars(dtype):
            yield from call(make.tensor((2, 3), dtype, make.random.choice(LAYOUTS[:4])), number)
        yield from call(make.special(dtype), make.random.choice(scalars(dtype)[:2]))
    for tensor in make.layouts((2, 3, 2)):
        yield from call(tensor, 1.5)
    for sizes in SIZES:
        yield from call(make.tensor(sizes), 2)
    if "pow" in name:
        for number in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5):
            yield from call(make.special(torch.float32), number)
            yield from call(make.special(torch.float64), number)
            yield from call(make.tensor((20,), torch.float32, "contiguous", 0, 9), number)
    if name in ("add", "sub", "rsub"):
        yield Call(make.tensor((3,)), 2, 0.5)
        yield Call(make.tensor((3,), torch.int64), 2, 3)
        yield Call(make.tensor((3,), torch.int64), 2, 0.5, error=True)
    if name in ("sub", "rsub"):
        yield Call(make.tensor((3,), torch.bool), True, error=True)
    if name in ("fmod", "remainder"):
        yield Call(make.tensor((3,), torch.int64), 0, error=True)
    if name in ("pow", "pow_") and not reverse:
        yield Call(make.tensor((3,), torch.int64), -1, error=True)
    if name == "lt":
        yield Call(make.tensor((3,), torch.complex64), 0, error=True)


@samples("aten::bitwise_and.Scalar", "aten::bitwise_and_.Scalar", "aten::bitwise_or.Scalar",
         "aten::bitwise_or_.Scalar", "aten::bitwise_xor.Scalar", "aten::__iand__.Scalar", "aten::__ilshift__.Scalar",
         "aten::__lshift__.Scalar", "aten::__rshift__.Scalar")
def bitwise_number(make):
    shifts = "shift" in make.operator
    writes = make.is_inplace or "__i" in make.operator
    for dtype in [*INTS, *BOOL]:
        if shifts and dtype is torch.bool:
            continue
        for number in (1, 3, 6, True):
            both = torch.result_type(torch.empty(1, dtype=dtype), number)
            if writes and not torch.can_cast(both, dtype):
                continue
            yield Call(make.tensor((2, 3), dtype, make.random.choice(LAYOUTS[:4])), number)
        yield Call(make.special(dtype), 1 if dtype is not torch.bool else True)
    for layout in LAYOUTS:
        if not (writes and layout == "expanded"):
            yield Call(make.tensor((2, 3, 2), torch.int32, layout), 2)
    yield Call(make.tensor((), torch.int64), 3)
    yield Call(make.tensor((0, 2), torch.int64), 3)
    if not shifts:
        yield Call(make.tensor((2,)), 1, error=True)


@samples("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def div_mode(make):
    by_number = "Scalar" in make.operator
    dtypes = [*FLOATS, *INTS, *BOOL]
    for mode in (None, "trunc", "floor"):
        for left, right in pairs(make, [*FLOATS, *INTS]):
            integers = not left.is_floating_point() and not right.is_floating_point()
            if integers:
                right = torch.where(right == 0, torch.tensor(5, dtype=right.dtype), right)
            if by_number:
                right = right.flatten()[0].item() if right.numel() else 3
            yield Call(left, right, rounding_mode=mode, exact=True)
        for dtype in FLOATS:
            left, right = make.special_pair(dtype)
            yield Call(left, right[3].item() if by_number else right, rounding_mode=mode, exact=True)
    yield Call(make.tensor((2,)), 2 if by_number else make.tensor((2,)), rounding_mode="up", error=True)
    zero = 0 if by_number else make.values([0, 0], torch.int64)
    yield Call(make.ints((2,), 1, 5), zero, rounding_mode="floor", error=True)


@samples("aten::add.out", "aten::mul.out", "aten::atan2.out")
def with_out(make):
    for dtype in FLOATS:
        for layout in LAYOUTS[:4]:
            yield Call(make.tensor((2, 3), dtype), make.tensor((2, 3), dtype), out=make.tensor((2, 3), dtype, layout))
        yield Call(make.tensor((2, 3), dtype), make.tensor((3,), dtype), out=torch.empty(0, dtype=dtype))
    for dtype in INTS[1:]:
        yield Call(make.tensor((3,), dtype), make.tensor((3,), dtype), out=make.tensor((3,), torch.float64))
    if "atan2" not in make.operator:
        for dtype in [*INTS, *COMPLEX]:
            for layout in ("contiguous", "strided", "transposed"):
                yield Call(make.tensor((2, 3), dtype), make.tensor((), dtype),
                           out=make.tensor((2, 3), dtype, layout))
    for layout in LAYOUTS[:4]:
        yield Call(make.tensor((2, 3, 2), layout=layout), make.tensor((2, 3, 2)), out=make.tensor((2, 3, 2)))
        yield Call(make.tensor((2, 3, 2), layout=layout), make.tensor((2, 3, 2)), out=torch.empty(0))
    base = make.tensor((3, 3))
    yield Call(base, make.tensor((3, 3)), out=base)
    yield Call(make.tensor((2,)), make.tensor((2,)), out=make.tensor((2,), torch.int64), error=True)
    yield Call(make.tensor((2,)), make.tensor((3,)), out=make.tensor((2,)), error=True)


@samples("aten::clamp", "aten::clamp_", "aten::clamp_min", "aten::clamp_min_", "aten::clamp_max")
def clamp(make):
    name = packet(make)
    both = name in ("clamp", "clamp_")
    for dtype in [*FLOATS, *INTS]:
        for low, high in [(-1, 2), (None, 1), (0, None), (3, 1), (0.5, 1.5), (-0.5, NAN)]:
            if not both:
                low = low if low is not None else high
            number = low if low is not None else high
            is_integer = not dtype.is_floating_point
            if is_integer and dtype is torch.uint8 and low == -1:
                continue
            if is_integer and (isinstance(low, float) or isinstance(high, float)) and make.is_inplace:
                continue
            arguments = (low, high) if both else (number,)
            yield Call(make.special(dtype), *arguments, exact=True)
            yield Call(make.tensor((2, 3), dtype, make.random.choice(LAYOUTS[:4])), *arguments, exact=True)
    for tensor in make.layouts((2, 3, 2)):
        yield Call(tensor, *((-1, 1) if both else (0.5,)))
    for sizes in SIZES:
        yield Call(make.tensor(sizes), *((-1, 1) if both else (0.5,)))
    if both:
        yield Call(make.tensor((2,)), error=True)
    yield Call(make.tensor((2,), torch.complex64), *((0, 1) if both else (0,)), error=True)


@samples("aten::clamp.Tensor")
def clamp_tensor(make):
    for dtype in [*FLOATS, *INTS]:
        for sizes in [(2, 3), (3,), ()]:
            low, high = make.tensor(sizes, dtype), make.tensor((2, 3), dtype, "transposed")
            yield Call(make.tensor((2, 3), dtype), low, high, exact=True)
            yield Call(make.tensor((2, 3), dtype), None, high, exact=True)
            yield Call(make.tensor((2, 3), dtype, "strided"), low, None, exact=True)
    yield Call(make.special(torch.float32), torch.tensor(NAN), torch.tensor(1.0), exact=True)
    yield Call(make.tensor((2,), torch.int32), make.tensor((2,)), make.tensor((2,), torch.float64))
    yield Call(make.tensor((2,)), error=True)
    yield Call(make.tensor((2,)), make.tensor((3,)), error=True)


@samples("aten::where.self", "aten::where.ScalarOther", "aten::where.ScalarSelf", "aten::where.Scalar")
def where(make):
    for left, right in pairs(make):
        sizes = torch.broadcast_shapes(left.shape, right.shape)
        condition = make.tensor(sizes, torch.bool, make.random.choice(LAYOUTS[:4]))
        if make.operator.endswith("ScalarOther"):
            right = make.random.choice([2, 1.5, True])
        elif make.operator.endswith("ScalarSelf"):
            left = make.random.choice([2, 1.5, True])
        elif make.operator.endswith(".Scalar"):
            left, right = make.random.choice([(2, 1.5), (True, 3), (1.5, 2.5), (1, 2)])
        both = [operand.dtype for operand in (left, right) if isinstance(operand, torch.Tensor)]
        if torch.complex128 in both and (torch.float16 in both or torch.bfloat16 in both):
            # A half complex type, which torch hardly has.
            continue
        yield Call(condition, left, right, exact=True)
    other = 2.0 if make.operator.endswith("ScalarOther") else make.tensor((2,))
    if make.operator.endswith("self") or make.operator.endswith("ScalarOther"):
        yield Call(make.tensor((2, 1), torch.bool), make.tensor((3,)), make.tensor((3,)) if other is not 2.0 else 2.0)
        yield Call(make.tensor((2,), torch.uint8), make.tensor((2,)), other)
        yield Call(make.tensor((2,)), make.tensor((2,)), other, error=True)
        yield Call(make.tensor((3,), torch.bool), make.tensor((2,)), other, error=True)


@samples("aten::addcdiv", "aten::addcdiv_", "aten::addcmul", "aten::addcmul_")
def addc(make):
    divides = "div" in make.operator
    dtypes = [*FLOATS, *COMPLEX] if divides else [*FLOATS, *INTS, *COMPLEX]
    for dtype in dtypes:
        values = [1, 2, 0.5] if dtype.is_floating_point or dtype.is_complex else [1, 2]
        for value in values:
            layout = make.random.choice(LAYOUTS[:4])
            yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), dtype), make.tensor((3,), dtype),
                       value=value, tolerance=1e-2 if dtype in HALVES else None)
    for layout in LAYOUTS[:4]:
        yield Call(make.tensor((2, 3, 2), layout=layout), make.tensor((2, 3, 2), layout="permuted"),
                   make.tensor((3, 1)), value=-1.5)
    for sizes in SIZES:
        yield Call(make.tensor(sizes), make.tensor(sizes), make.tensor(sizes))
    for dtype in FLOATS:
        left, right = make.special_pair(dtype)
        yield Call(make.tensor(left.shape, dtype), left, right, tolerance=1e-2 if dtype in HALVES else None)
        yield Call(make.tensor((2,), torch.float64), make.tensor((2,), dtype), make.tensor((2,), dtype))
    if divides:
        integers = make.ints((2,), 1, 4), make.ints((2,), 1, 4), make.ints((2,), 1, 4)
        yield Call(*integers, error=True)
    yield Call(make.tensor((2, 3)), make.tensor((2,)), make.tensor((3,)), error=True)


@samples("aten::lerp.Scalar", "aten::lerp.Tensor", "aten::lerp_.Scalar", "aten::lerp_.Tensor")
def lerp(make):
    by_number = "Scalar" in make.operator
    for dtype in [*FLOATS, *COMPLEX]:
        for number in (0.0, 0.25, 0.5, 0.75, 1.0, 2.5):
            layout = make.random.choice(LAYOUTS[:4])
            weight = number if by_number else make.tensor((3,), dtype)
            yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), dtype), weight)
    for sizes in SIZES:
        yield Call(make.tensor(sizes), make.tensor(sizes), 0.3 if by_number else make.tensor(sizes))
    for layout in LAYOUTS[:4]:
        yield Call(make.tensor((2, 3, 2), layout=layout), make.tensor((2, 3, 2), layout="permuted"),
                   0.7 if by_number else make.tensor((2, 3, 2)))
    yield Call(make.tensor((2, 3)), make.tensor((2,)), 0.5 if by_number else make.tensor((2, 3)), error=True)
    yield Call(make.tensor((2,)), make.tensor((2,), torch.float64), 0.5 if by_number else make.tensor((2,)),
               error=True)


@samples("aten::prelu")
def prelu(make):
    for dtype in FLOATS:
        for sizes, weights in [((2, 3), 3), ((2, 3, 2), 3), ((2, 3, 2), 1), ((4,), 1), ((), 1), ((2, 3, 2, 2), 3)]:
            yield Call(make.tensor(sizes, dtype, make.random.choice(LAYOUTS[:4])), make.tensor((weights,), dtype))
        yield Call(make.special(dtype), make.tensor((1,), dtype))
    yield Call(make.tensor((2, 3)), make.tensor((2,)), error=True)
    yield Call(make.tensor((2, 3)), make.tensor((3,), torch.float64), error=True)


@samples("aten::masked_fill.Scalar", "aten::masked_fill.Tensor", "aten::masked_fill_.Scalar",
         "aten::masked_fill_.Tensor")
def masked_fill(make):
    def value(number, dtype):
        return torch.tensor(number, dtype=dtype) if make.operator.endswith("Tensor") else number

    for dtype in ALL:
        numbers = [1, True] if dtype is torch.bool else [2, 1.5, INF] if dtype.is_floating_point else [3, 7]
        for number in numbers:
            layout = make.random.choice(LAYOUTS[:4])
            yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), torch.bool), value(number, dtype),
                       exact=not dtype.is_complex)
    for mask in [(3,), (2, 1), (), (2, 3)]:
        for layout in LAYOUTS[:4]:
            yield Call(make.tensor((2, 3), layout=layout), make.tensor(mask, torch.bool), value(-1.5, torch.float32))
    yield Call(make.tensor((0, 2)), make.tensor((0, 2), torch.bool), value(1.0, torch.float32))
    yield Call(make.tensor(()), make.tensor((), torch.bool), value(1.0, torch.float32))
    if not make.is_inplace:
        yield Call(make.tensor((3,)), make.tensor((2, 3), torch.bool), value(1.0, torch.float32))
        yield Call(make.tensor((2, 3), layout="expanded"), make.tensor((2, 3), torch.bool), value(1.0, torch.float32))
    yield Call(make.tensor((2, 3)), make.tensor((2,), torch.bool), value(1.0, torch.float32), error=True)
    yield Call(make.tensor((2, 3)), make.tensor((2, 3)), value(1.0, torch.float32), error=True)
    if make.operator.endswith("Tensor"):
        yield Call(make.tensor((2, 3)), make.tensor((2, 3), torch.bool), make.tensor((2,)), error=True)


@samples("aten::mse_loss")
def mse_loss(make):
    for dtype in FLOATS:
        for reduction in (0, 1, 2):
            for layout in LAYOUTS[:4]:
                yield Call(make.tensor((2, 3), dtype, layout), make.tensor((2, 3), dtype), reduction)
    yield Call(make.tensor((0,)), make.tensor((0,)))
    yield Call(make.tensor(()), make.tensor(()), 0)
    yield Call(make.tensor((2, 3)), make.tensor((4,)), error=True)
