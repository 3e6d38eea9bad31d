#!/usr/bin/env python3
"""Ask torch what becomes of the calls in a file of recorded calls, and write it there.

usage: record.py [--all] FILE...          needs torch 2.15.0, CPU

Records the cases that have no recording yet; with --all, every case anew.

A case is a block of lines:

    # why the case is here
    x: f32[3, 4] strides=[1, 3]
    aten::reshape(x, [-1])
        clone: f32[3, 4] = aten::clone(x, memory_format=torch.contiguous_format)
        _unsafe_view: f32[12] = aten::_unsafe_view(clone, [12])
        return (_unsafe_view,)

The comment, the inputs and the call are written by hand. The indented lines are what
`torch.export.export(...).run_decompositions({})` records for the call, dead nodes included;
this script writes them. Sizes called s0, s1 are dynamic; the functions on symbolic sizes that
torch records are left out, their values stand where they are used. Strides and offset are
given where the tensor is not contiguous at offset 0.
"""
import re
import sys
import warnings

warnings.filterwarnings("ignore")
import logging
import torch

logging.disable(logging.ERROR)
DTYPES = {"u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
          "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
          "c32": torch.complex32, "c64": torch.complex64, "c128": torch.complex128, "b8": torch.bool}
SHORT = {v: k for k, v in DTYPES.items()}
INPUT = re.compile(r"(\w+): (\w+)\[([^\]]*)\](?: strides=\[([^\]]*)\])?(?: offset=(\d+))?$")
HINTS = {"s0": 6, "s1": 8, "s2": 10}


class Tensor:
    """An input: how to make it, and which of its sizes are dynamic."""

    def __init__(self, line):
        match = INPUT.match(line)
        if not match:
            raise ValueError(f"not an input: {line}")
        self.name, dtype, sizes, strides, offset = match.groups()
        sizes = [s.strip() for s in sizes.split(",") if s.strip()]
        self.symbols = {i: s for i, s in enumerate(sizes) if s in HINTS}
        numbers = [HINTS.get(s) or int(s) for s in sizes]
        if strides is None:
            value = torch.empty(numbers, dtype=torch.float32)
            strides = value.stride()
        else:
            strides = [eval(s, dict(HINTS)) for s in strides.split(",") if s.strip()]
        offset = int(offset or 0)
        extent = offset + 1 + sum((n - 1) * s for n, s in zip(numbers, strides)) if 0 not in numbers else offset + 1
        storage = torch.ones(extent, dtype=DTYPES[dtype])
        self.value = storage.as_strided(numbers, strides, offset)


def target_name(target):
    name = str(target)
    if not isinstance(target, torch._ops.OpOverload):
        return getattr(target, "__name__", name)
    namespace, packet, overload = name.split(".")
    return f"{namespace}::{packet}" + ("" if overload == "default" else f".{overload}")


class Printer:
    def __init__(self, symbols):
        self.symbols = symbols

    def size(self, value):
        if isinstance(value, int):
            return str(value)
        import sympy
        expr = value.node.expr
        return str(expr.xreplace({s: sympy.Symbol(n, integer=True, positive=True) for s, n in self.symbols.items()}))

    def sizes(self, values):
        return "[" + ", ".join(map(self.size, values)) + "]"

    def meta(self, value):
        if isinstance(value, torch.Tensor):
            text = SHORT.get(value.dtype, str(value.dtype)) + self.sizes(value.shape)
            dense, running = [], 1
            for size in reversed(value.shape):
                dense.insert(0, running)
                running = running * torch.sym_max(size, 1)
            if self.sizes(dense) != self.sizes(value.stride()):
                text += " strides=" + self.sizes(value.stride())
            offset = self.size(value.storage_offset())
            return text + (f" offset={offset}" if offset != "0" else "")
        if isinstance(value, (tuple, list)):
            return "(" + ", ".join(map(self.meta, value)) + ")"
        return repr(value)

    def argument(self, value):
        if isinstance(value, torch.fx.Node):
            val = value.meta.get("val")
            if isinstance(val, (torch.SymInt, torch.SymFloat)):
                return self.size(val)
            return value.name
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.argument, value)) + "]"
        if isinstance(value, torch.device):
            return str(value)
        return repr(value)


def record(inputs, call):
    name, arguments = re.match(r"aten::(\w+(?:\.\w+)?)\((.*)\)$", call).groups()
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    names = ", ".join(i.name for i in inputs)
    environment = {"operator": operator, "torch": torch, "cpu": torch.device("cpu"), "inf": float("inf"), "nan": float("nan")}
    symbolic = any(i.symbols for i in inputs)
    sizes = "".join(f"    {s} = {i.name}.size({d})\n" for i in inputs for d, s in i.symbols.items())
    exec(f"def forward(self, {names}):\n{sizes}    result = operator({arguments})\n"
         f"    return result if result is not None else {inputs[0].name}", environment)
    module = type("Case", (torch.nn.Module,), {"forward": environment["forward"]})()
    dims = {s: torch.export.Dim(s, min=3, max=1000) for i in inputs for s in i.symbols.values()}
    shapes = tuple({d: dims[s] for d, s in i.symbols.items()} for i in inputs) if symbolic else None
    program = torch.export.export(module, tuple(i.value for i in inputs), dynamic_shapes=shapes)
    raw = [n for n in program.graph.nodes if n.op == "call_function" and "_assert" not in n.name and "sym_size" not in n.name]
    if raw and target_name(raw[0].target) != f"aten::{name}":
        raise ValueError(f"exported as {raw[0].target}")
    traced = []
    eliminate = torch.fx.Graph.eliminate_dead_code

    def keep(graph, *args, **kwargs):
        if not traced:
            traced.append(describe(graph, inputs))
        return eliminate(graph, *args, **kwargs)

    torch.fx.Graph.eliminate_dead_code = keep
    try:
        program.run_decompositions({})
    finally:
        torch.fx.Graph.eliminate_dead_code = eliminate
    return traced[0]


def describe(graph, inputs):
    lines, named = [], iter(inputs)
    printer = Printer({})
    rename = {}
    mutated = 0
    for node in graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder":
            tensor = next(named)
            rename[node.name] = tensor.name
            for dim, symbol in tensor.symbols.items():
                printer.symbols[value.shape[dim].node.expr] = symbol
        elif node.op == "output":
            pass
        elif "_assert_tensor_metadata" in str(node.target):
            pass  # recorded for the raw program's own check, not for the call
        elif isinstance(node.target, torch._ops.OpOverload) or target_name(node.target) == "getitem":
            if isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat)):
                continue
            words = [printer.argument(a) for a in node.args]
            words += [f"{k}={printer.argument(v)}" for k, v in node.kwargs.items()]
            lines.append(f"    {node.name}: {printer.meta(value)} = {target_name(node.target)}({', '.join(words)})")
    results = [n for n in graph.nodes if n.op == "output"][0].args[0]
    text = ", ".join(map(printer.argument, results))
    lines.append(f"    return ({text}{',' if len(results) == 1 else ''})")
    swap = re.compile("|".join(rf"\b{k}\b" for k in rename))
    return [swap.sub(lambda m: rename[m[0]], line) for line in lines]


def rewrite(path, everything):
    blocks = open(path).read().rstrip("\n").split("\n\n")
    for index, block in enumerate(blocks):
        lines = block.splitlines()
        kept = [line for line in lines if not line.startswith("    ")]
        body = [line for line in kept if not line.startswith("#")]
        if not body or (kept != lines and not everything):
            continue
        try:
            kept += record([Tensor(line) for line in body[:-1]], body[-1])
        except Exception as error:
            reasons = [line for line in str(error).splitlines() if line.strip()] or [""]
            print(f"{body[-1]}: {type(error).__name__}: {reasons[0][:300]}", file=sys.stderr)
            kept.append("    refused")
        blocks[index] = "\n".join(kept)
        open(path, "w").write("\n\n".join(blocks) + "\n")


def main():
    everything = "--all" in sys.argv
    for path in sys.argv[1:]:
        if path != "--all":
            rewrite(path, everything)


main()
