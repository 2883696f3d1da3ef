#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the quickstart's corpus: the text of the manual pages in Debian's `manpages` and `manpages-dev`.

A slim system drops manual pages when packages are installed, so the packages are downloaded and unpacked into a cache
folder; nothing is installed. Symlinks and `.so` stubs repeat other pages and are left out, or validation text would
stand in the training text. Each page is rendered by groff; a form feed ends it. Whole pages go to one side of the
split, chosen by a hash of the page's name, so that the split does not depend on the order or number of pages.

Writes OUT/train.txt, OUT/valid.txt and OUT/corpus.json (pages, bytes, package versions). Debian 12's versions (6.03)
give 1,100 pages and 7.6 MB: 1,044 pages (7.26 MB) to train on and 56 (0.36 MB) to validate.
"""

import argparse
import concurrent.futures
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PACKAGES = ("manpages", "manpages-dev")
PAGE_END = "\f"
# Ragged right and no hyphens: justified text holds spaces and halves of words where lines happen to end, which is noise
# to a model. Pages that set these themselves are overruled.
PLAIN_LINES = b".ad l\n.de ad\n..\n.nh\n.de hy\n..\n"
SECONDS_A_PAGE = 60  # the longest page takes under a second; a page that hangs must not hang the quickstart


def main():
    options = parse_arguments()
    check_programs("apt-get", "dpkg-deb", "groff")
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    cache = pathlib.Path(options.cache) if options.cache else out / "cache"
    archives = [download(package, cache) for package in PACKAGES]
    pages = find_pages(unpack(archives, cache))
    if not pages:
        fail(f"no manual pages in {', '.join(a.name for a in archives)}; remove {cache} and try again")
    texts = render_all(pages, options.jobs)
    write_corpus(texts, out, options.valid_every, archives)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Builds train.txt and valid.txt from Debian's manual pages.")
    parser.add_argument("out", help="folder that train.txt, valid.txt and corpus.json are written to")
    parser.add_argument("--cache", help="folder for the packages and their contents (default: OUT/cache)")
    parser.add_argument("--valid-every", type=int, default=20, metavar="N",
                        help="about every Nth page is validation text (default: 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="pages rendered at a time")
    options = parser.parse_args()
    if options.valid_every < 2:
        parser.error("--valid-every must be 2 or more")
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    return options


def check_programs(*names):
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        fail(f"needs {', '.join(missing)}: apt-get install groff (the full package, not groff-base alone)")


def download(package, cache):
    """The package's archive in the cache; downloaded if it is not there yet."""
    cache.mkdir(parents=True, exist_ok=True)
    found = sorted(cache.glob(f"{package}_*.deb"))
    if not found:
        note(f"downloading {package}")
        run = fetch(package, cache)
        if run.returncode != 0:
            # A slim system comes without package lists, or with lists of versions that are no longer served.
            update_package_lists()
            run = fetch(package, cache)
        found = sorted(cache.glob(f"{package}_*.deb"))
        if run.returncode != 0 or not found:
            fail(f"apt-get download {package} failed\n{run.stderr.strip()}")
    return found[-1]


def fetch(package, folder):
    return subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True)


def update_package_lists():
    note("updating apt's package lists")
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    if as_root and shutil.which("sudo") is None:
        fail("apt's package lists are missing or old; run as root: apt-get update")
    subprocess.run([*as_root, "apt-get", "update"], capture_output=True)


def unpack(archives, cache):
    root = cache / "root"
    shutil.rmtree(root, ignore_errors=True)
    for archive in archives:
        run = subprocess.run(["dpkg-deb", "-x", archive, root], capture_output=True, text=True)
        if run.returncode != 0:
            fail(f"{archive} does not unpack; remove it and try again\n{run.stderr.strip()}")
    return root / "usr" / "share" / "man"


def find_pages(root):
    """(name, source) of every page that is text of its own, in the order of names."""
    pages = []
    for path in sorted(root.glob("man*/*.gz")):
        if path.is_symlink():
            continue
        with gzip.open(path) as file:
            source = file.read()
        if not is_stub(source):
            pages.append((path.name.removesuffix(".gz"), source))
    return pages


def is_stub(source):
    """True for a page that only includes another one (`.so man3/other.3`), comments aside."""
    lines = [line for line in source.splitlines() if line.strip() and not line.startswith(b'.\\"')]
    return all(line.startswith(b".so") for line in lines)


def render_all(pages, jobs):
    texts = []
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (name, _), text in zip(pages, pool.map(lambda page: render(*page), pages)):
            texts.append((name, text))
            show_progress(len(texts), len(pages), start)
    return texts


def render(name, source):
    """The page as plain text: tables set, no escapes, no overstrikes, no form feed of its own."""
    command = ["groff", "-k", "-t", "-mandoc", "-Tascii", "-P-c"]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    run = subprocess.run(command, input=PLAIN_LINES + source, capture_output=True, timeout=SECONDS_A_PAGE, env=environment)
    if run.returncode != 0 and not run.stdout:
        fail(f"groff could not render {name}: {run.stderr.decode(errors='replace').strip()}")
    text = run.stdout.decode("utf-8", errors="replace")
    text = re.sub("\x1b\\[[0-9;]*m", "", text)
    text = re.sub(".\b", "", text)
    return text.replace("\0", "").replace(PAGE_END, "").strip("\n") + "\n"


def write_corpus(texts, out, valid_every, archives):
    parts = {"train": [], "valid": []}
    for name, text in texts:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        parts["valid" if number % valid_every == 0 else "train"].append(text + PAGE_END)
    facts = {"packages": [archive.name for archive in archives]}
    for part, pages in parts.items():
        if not pages:
            fail(f"the {part} part of the split is empty; choose another --valid-every")
        data = "".join(pages).encode()
        replace_file(out / f"{part}.txt", data)
        facts[part] = {"pages": len(pages), "bytes": len(data)}
        note(f"{out / f'{part}.txt'}: {len(pages):,} pages, {len(data):,} bytes")
    replace_file(out / "corpus.json", (json.dumps(facts, indent=2) + "\n").encode())


def replace_file(path, data):
    """Writes aside and renames, so that an interrupted run leaves no half file that looks whole."""
    aside = path.with_suffix(path.suffix + ".part")
    aside.write_bytes(data)
    aside.replace(path)


def show_progress(done, total, start):
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rrendering pages: {done}/{total}, {time.monotonic() - start:.0f} s", end=end, file=sys.stderr, flush=True)
    elif done == total or done % 250 == 0:
        note(f"rendering pages: {done}/{total}, {time.monotonic() - start:.0f} s")


def note(message):
    print(message, file=sys.stderr, flush=True)


def fail(message):
    sys.exit(f"make_corpus: {message}")


if __name__ == "__main__":
    main()
