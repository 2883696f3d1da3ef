#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stated minimum of RAM, from outside: usage: budget_test.py PROGRAM WITH_MEMORY_LIMIT [--large]

For each model, in the sizes that a test machine holds: the command says its least budget; inside a memory control group
of exactly that size it runs; with 1 MiB less it is refused before it reads data or takes memory; and each option that
the refusal names lowers the least budget by what it said. --large takes the published models instead of small ones.
Exits 125, a skipped test, where no memory control group can be made.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, WITH_MEMORY_LIMIT = map(os.path.abspath, sys.argv[1:3])
IS_LARGE = "--large" in sys.argv
MEBIBYTE = 1 << 20
INFEASIBLE = 3
NO_GROUP = 125
RATES = ["--rates", "1e11,1e10", "--json"]

RUN_FILE = """
[model]
name = "{name}"
n_layer = {layers}
n_head = 2
n_embd = {width}
block_size = 64
dropout = 0.1
[data]
train = "text.txt"
validation_fraction = 0.1
tokenizer = "{tokenizer}"
{vocabulary}
[train]
batch_size = 4
steps = 3
sample_tokens = {sample}
[optimizer]
betas = [0.9, 0.95]
clip_norm = 1.0
[run]
folder = "run"
threads = 2
"""

STEPS = [("mlp-mnist", 64, None)]
RUNS = [("gpt2", 2, 64, "bytes", 8), ("gpt2", 12, 32, "sentencepiece", 8), ("bert", 2, 64, "bytes", 0)]
if IS_LARGE:
    STEPS = [("gpt2-124m", 1, 64), ("bert-base", 1, 32)]
    RUNS = []


class Job:
    """A command line that takes --ram, in the words of its kind."""

    def __init__(self, name, words, plan, ram, folder):
        self.name, self.words, self.plan, self.ram, self.folder = name, words, plan, ram, folder

    def run(self, words, limit=None, peak=None):
        limited = [WITH_MEMORY_LIMIT, "--peak", peak, str(limit)] if limit else []
        return subprocess.run([*limited, PROGRAM, *words], cwd=self.folder, capture_output=True, text=True,
                              errors="replace", timeout=900)

    def least_budget(self, *changes):
        """As `plan` states it."""
        done = self.run(changed(self.plan, list(changes)))
        check(done.returncode == 0, f"{self.name}: plan fails: {done.stderr}")
        return json.loads(done.stdout)["least_budget_bytes"]

    def refusal(self, ram, limit=None, peak=None):
        done = self.run([*self.words, *self.ram(ram)], limit, peak)
        check(done.returncode == INFEASIBLE, f"{self.name}: {ram} bytes give exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stderr)


def changed(words, changes):
    """A command line with other values: a run file's --set comes on top, an option of the command in place."""
    if changes[:1] == ["--set"]:
        return [*words, *changes]
    new = dict(zip(changes[::2], changes[1::2]))
    return [new.get(words[i - 1], word) if i > 0 else word for i, word in enumerate(words)]


def check(is_so, message):
    if not is_so:
        sys.exit(f"FAILED: {message}")


def check_runs_at_the_least_budget(job, least):
    peak = os.path.join(job.folder, "peak")
    done = job.run([*job.words, *job.ram(least)], least, peak)
    if done.returncode == NO_GROUP:
        print(f"SKIPPED: {done.stderr.strip()}")
        sys.exit(NO_GROUP)
    check(done.returncode == 0, f"{job.name}: exit code {done.returncode} at the least budget {least}: {done.stderr}")
    end = json.loads(done.stdout.splitlines()[-1])
    check(end["needed_bytes"] == least, f"{job.name}: needs {end['needed_bytes']}, but `plan` says {least}")
    check(end["vmhwm_bytes"] <= least, f"{job.name}: resident {end['vmhwm_bytes']} of {least}")
    with open(peak) as file:
        charged = dict(pair.split("=") for pair in file.read().split())
    check(charged["oom_kills"] == "0", f"{job.name}: killed")
    print(f"{job.name}: least budget {least}, peak resident {end['vmhwm_bytes']}, charged {charged['memory_peak_bytes']}")


def check_refused_below(job, least):
    refusal = job.refusal(least - MEBIBYTE)
    check(refusal["needed_bytes"] == least, f"{job.name}: the refusal says {refusal['needed_bytes']}, `plan` {least}")
    check(refusal["budget_bytes"] == least - MEBIBYTE, f"{job.name}: the budget is {refusal['budget_bytes']}")
    check(refusal["tightest_step"] and refusal["holders"], f"{job.name}: no tightest step or holders")
    check(not os.path.exists(os.path.join(job.folder, "run")), f"{job.name}: a refused run left a folder")
    check(refusal["remedies"], f"{job.name}: nothing would help")
    for remedy in refusal["remedies"]:
        then = job.least_budget(*remedy["option"].split())
        check(then == least - remedy["saved_bytes"],
              f"{job.name}: {remedy['option']} promises {least - remedy['saved_bytes']}, `plan` says {then}")


def check_machine_is_the_budget(job, least):
    """Without a budget, what the control group leaves is the budget: refused, where the kernel would kill."""
    shutil.rmtree(os.path.join(job.folder, "run"), ignore_errors=True)
    limit = max(least // 2, 32 * MEBIBYTE)
    refusal = job.refusal(None, limit, os.path.join(job.folder, "peak"))
    check(refusal["budget_bytes"] <= limit, f"{job.name}: in a group of {limit} the budget is {refusal['budget_bytes']}")


def check_job(job):
    least = job.least_budget()
    check_refused_below(job, least)
    check_runs_at_the_least_budget(job, least)
    check_machine_is_the_budget(job, least)


def step_job(model, batch, seq, folder):
    sizes = [model, "--batch", str(batch), *(["--seq", str(seq)] if seq else []), "--threads", "2", *RATES]
    return Job(f"{model} {batch}x{seq or 1}", ["bench", "step", *sizes, "--steps", "1"], ["plan", *sizes],
               lambda ram: ["--ram", str(ram)] if ram else [], folder)


def run_job(name, layers, width, tokenizer, sample, folder):
    words = ["ship", "line", "load", "hull", "sea", "mark", "tide", "keel"]
    with open(os.path.join(folder, "text.txt"), "w") as file:
        for i in range(3000):
            file.write(" ".join(words[(i * i + 3 * j) % 8] + str(i * j % 97) for j in range(9)) + ".\n")
    with open(os.path.join(folder, "run.toml"), "w") as file:
        vocabulary = "vocab_size = 600" if tokenizer == "sentencepiece" else ""
        file.write(RUN_FILE.format(name=name, layers=layers, width=width, tokenizer=tokenizer, sample=sample,
                                   vocabulary=vocabulary))
    return Job(f"{name} of {layers} layers, {tokenizer}", ["train", "run.toml", *RATES],
               ["plan", "run.toml", *RATES],
               lambda ram: ["--set", f"memory.ram={ram}"] if ram else [], folder)


for step in STEPS:
    with tempfile.TemporaryDirectory() as place:
        check_job(step_job(*step, place))
for run in RUNS:
    with tempfile.TemporaryDirectory() as place:
        check_job(run_job(*run, place))
