#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_readme.py [--fix]

Code that README.md shows of a file stands behind a line `<!-- file: PATH -->` and is the file, word for word. Without
--fix, names each block that differs and fails; with it, copies the files in.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- file: (\S+) -->\n```(\w+)\n(.*?)```\n", re.DOTALL)


def main(arguments):
    if arguments not in ([], ["--fix"]):
        sys.exit(f"check_readme.py: unknown arguments {arguments}; expected none or --fix")
    readme = ROOT / "README.md"
    text = readme.read_text()
    stale = []

    def with_file(block):
        path, language, shown = block.groups()
        code = (ROOT / path).read_text()
        if code != shown:
            stale.append(path)
        return f"<!-- file: {path} -->\n```{language}\n{code}```\n"

    fixed = BLOCK.sub(with_file, text)
    if not BLOCK.search(text):
        sys.exit("check_readme.py: README.md shows no file")
    if stale and not arguments:
        sys.exit(f"README.md shows another text than {', '.join(stale)}; run scripts/check_readme.py --fix")
    readme.write_text(fixed)
    print("README.md shows its files as they are")


main(sys.argv[1:])
