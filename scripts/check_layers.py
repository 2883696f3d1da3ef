#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include goes down the layers of layers.txt.

A folder may include itself and folders on a lower level, never another one on its own level or a higher one. Prints one
line for each include that does otherwise, each folder with sources that layers.txt does not name, and each that has no
README.md; fails where it printed any. `apps` and `examples` stand at the root, all other folders in src/. Sub-folders
without a line of their own in layers.txt belong to the folder above.
"""

import argparse
import pathlib
import re
import sys

ROOT_FOLDERS = ("apps", "examples")  # beside src/; nobody includes them
PUBLIC_FOLDERS = ("plimsoll", "")  # src/plimsoll.h, the public header, may include all but ROOT_FOLDERS
SOURCE_ENDINGS = {".h", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent, type=pathlib.Path,
                        help="folder that holds layers.txt and src/ (default: this project)")
    root = parser.parse_args().root
    levels = read_levels(root / "layers.txt")
    files = find_sources(root)
    faults = check_folders(root, files, levels) + check_includes(root, files, levels)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"check_layers: {len(faults)} faults in {len(files)} files")
    print(f"check_layers: {len(files)} files in {len(levels)} folders include only lower levels")


def read_levels(path):
    """{folder: level} of the lines "level folder"."""
    levels = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not words[0].isdigit() or words[1] in levels:
            sys.exit(f"{path}:{number}: expected 'level folder', each folder once, not '{line}'")
        levels[words[1]] = int(words[0])
    return levels


def find_sources(root):
    """Paths below `root` of all sources, in the order of names."""
    tops = [root / name for name in ("src", "include", *ROOT_FOLDERS)]
    return sorted(path.relative_to(root) for top in tops for path in top.rglob("*") if path.suffix in SOURCE_ENDINGS)


def folder_of(path, levels):
    """The longest part of `path` (below the include root) that layers.txt names; its own folder where there is none."""
    for parent in pathlib.PurePath(path).parents:
        if parent.as_posix() in levels:
            return parent.as_posix()
    return "" if len(pathlib.PurePath(path).parts) == 1 else pathlib.PurePath(path).parent.as_posix()


def include_path(file):
    """The path that an #include would name: src/ops/array.h is ops/array.h."""
    return file.relative_to(file.parts[0]) if file.parts[0] in ("src", "include") else file


def check_folders(root, files, levels):
    faults = []
    for folder in sorted({file.parent for file in files}):
        name = folder_of(include_path(folder / "any.h"), levels)
        if name not in levels and name not in PUBLIC_FOLDERS:
            faults.append(f"{folder}: layers.txt does not name it or a folder above it")
        if name not in PUBLIC_FOLDERS and not (root / folder / "README.md").is_file():
            faults.append(f"{folder}: has no README.md")
    return faults


def check_includes(root, files, levels):
    faults = []
    for file in files:
        own = folder_of(include_path(file), levels)
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            fault = match and fault_of_include(root, file, own, match[1], levels)
            if fault:
                faults.append(f"{file}:{number}: {fault}")
    return faults


def fault_of_include(root, file, own, target, levels):
    """What is wrong with `file` of folder `own` including `target`, or None."""
    if "/" not in target and (root / file).parent.joinpath(target).is_file():
        return f'includes "{target}" from its own folder; write the path from src/'
    other = folder_of(target, levels)
    if other not in levels:
        # hwy/highway.h and its like come from outside; what stands in src/ is ours.
        ours = (root / "src" / target.split("/")[0]).is_dir()
        return f'includes "{target}", a folder that layers.txt does not name' if ours else None
    if own == other:
        return None
    if own in levels and levels[other] >= levels[own]:
        way = "up" if levels[other] > levels[own] else "sideways"
        return f'includes {way}: "{target}" is level {levels[other]}, {own} is level {levels[own]}'
    if own in PUBLIC_FOLDERS and other in ROOT_FOLDERS:
        return f'includes "{target}"; nobody includes {other}'
    return None


if __name__ == "__main__":
    main()
