"""Writes aten.schemas: every aten and prims operator of the installed torch.

    python aten_schemas.py > ../aten.schemas
"""

import torch

HEADER = """\
# Every aten and prims operator overload of torch {version}: schema, composite kind, tags.
# Written by scripts/aten_schemas.py; do not edit. Tab separated; in order of namespace, packet
# and overload, which look-ups rely on.
# composite: `implicit` is taken apart under autograd, `explicit` has one kernel for all
# backends, `-` is neither.
"""


def parts(name):
    namespace, rest = name.split("::")
    packet, _, overload = rest.partition(".")
    return namespace, packet, overload


def row(name):
    _, packet, overload = parts(name)
    schema = torch._C._get_schema(name.split(".")[0], overload)
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if has(name, "CompositeImplicitAutograd"):
        composite = "implicit"
    elif has(name, "CompositeExplicitAutograd") or has(
        name, "CompositeExplicitAutogradNonFunctional"
    ):
        composite = "explicit"
    else:
        composite = "-"
    namespace = getattr(torch.ops, name.split("::")[0])
    tags = getattr(getattr(namespace, packet), overload or "default").tags
    tags = ",".join(sorted(str(tag).removeprefix("Tag.") for tag in tags)) or "-"
    return f"{schema}\t{composite}\t{tags}"


print(HEADER.format(version=torch.__version__.split("+")[0]), end="")
for name in sorted(torch._C._dispatch_get_all_op_names(), key=parts):
    if parts(name)[0] not in ("aten", "prims"):
        continue
    try:
        print(row(name))
    except (RuntimeError, AttributeError):
        # Names that have kernels but no schema, and TorchScript's own.
        continue
