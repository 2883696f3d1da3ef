#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cpp_api_test.py ROOT

docs/cpp_api.md lists every layer of src/models/nn with its parameters as declared, and builder calls as they are.
"""
import pathlib
import re
import sys

LAYER_RESULTS = r"ValueId|Heads"
BUILDER_RESULTS = r"graph::ValueId|std::vector<graph::ValueId>|Scope|std::string|TensorDesc|const Status&"


def declared(header, results):
    """The functions of a header with such a result: {name: "parameter, parameter"}."""
    text = re.sub(r"//.*", "", header.read_text())
    function = rf"^ *(?:\[\[nodiscard\]\] )?(?:{results}) (\w+)\(([^()]*)\)(?: const)?(?:;| {{)"
    found = {}
    for name, parameters in re.findall(function, text, re.MULTILINE):
        without_defaults = re.sub(r"=[^,]*", "", parameters)
        parts = re.sub(r"<[^<>]*>", "", without_defaults).split(",")
        found[name] = ", ".join(part.split()[-1] for part in parts if part.strip())
    return found


def shown(page, section):
    """The calls in the first column of a section's table, as `declared` has them."""
    table = page.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(?:b\.)?(\w+)\((.*?)\)` \|", table, re.MULTILINE))


def main(root):
    page = (root / "docs/cpp_api.md").read_text()
    layers, builder = {}, {}
    for header in sorted((root / "src/models/nn").glob("*.h")):
        layers |= declared(header, LAYER_RESULTS)
    for path in ("src/ops/builder.h", "src/models/model.h"):
        builder |= declared(root / path, BUILDER_RESULTS)
    shown_layers, shown_builder = shown(page, "The layers"), shown(page, "The builder")

    faults = []
    for name in sorted(layers.keys() | shown_layers.keys()):
        if layers.get(name) != shown_layers.get(name):
            faults.append(f"layer {name}: declared ({layers.get(name)}), shown ({shown_layers.get(name)})")
    for name, parameters in shown_builder.items():
        if builder.get(name) != parameters:
            faults.append(f"builder call {name}: declared ({builder.get(name)}), shown ({parameters})")
    if not layers or not shown_builder:
        faults.append("found no layer or no builder call")
    sys.exit("\n".join(faults) or 0)


main(pathlib.Path(sys.argv[1]))
