#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plimsoll program from outside: usage: cli_test.py PROGRAM"""
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))

RUN_FILE = """
[model]
name = "gpt2"
n_layer = 1
n_head = 2
n_embd = 32
block_size = 16
dropout = 0.1
[data]
train = "text.txt"
tokenizer = "bytes"
[train]
batch_size = 2
steps = 12
log_every = 1
seed = 5
[optimizer]
lr = 1e-2
[memory]
ram = "300MiB"
[run]
folder = "run"
threads = 2
"""


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        words = ["ship", "line", "load", "hull", "sea", "mark"]
        text = "".join(" ".join(words[(i * i + 3 * j) % 6] for j in range(9)) + ".\n" for i in range(400))
        self.write("text.txt", text)
        self.write("run.toml", RUN_FILE)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def run_it(self, *words):
        return subprocess.run([PROGRAM, *words], cwd=self.path, capture_output=True, text=True, errors="replace",
                              timeout=120)

    def events(self, folder, kind="step"):
        with open(os.path.join(self.path, folder, "metrics.jsonl")) as file:
            return [e for e in map(json.loads, file) if e["event"] == kind]

    def page(self):
        return pathlib.Path(self.path, "run", "report.html").read_text(encoding="utf-8")

    def started(self, *words):
        """A process that trains for ever and has made its first update."""
        process = subprocess.Popen([PROGRAM, "train", "run.toml", "--set", "steps=1000000", *words], cwd=self.path,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("step"):
                break
        return process

    def refused(self, code, part, *words):
        done = self.run_it(*words)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertIn(part, done.stderr)
        return done

    def test_trains_saves_and_generates(self):
        done = self.run_it("train", "run.toml", "--set", "sample_tokens=20")
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = [e["loss"] for e in self.events("run")]
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(self.events("run", "evaluation")[-1]["step"], 12)
        for name in ["run.toml", "program.json", "trace.json"]:
            self.assertTrue(os.path.exists(os.path.join(self.path, "run", name)), name)
        with open(os.path.join(self.path, "run", "trace.json")) as file:
            self.assertTrue(json.load(file))
        end = self.events("run", "end")[0]
        if not os.environ.get("PLIMSOLL_SANITIZE"):  # a sanitizer's own memory is not in the plan
            self.assertLessEqual(end["vmhwm_bytes"], end["needed_bytes"])
        texts = [self.run_it("generate", "run", "--prompt", "ship ", "--tokens", "9", "--seed", "4").stdout for _ in "ab"]
        self.assertTrue(texts[0].startswith("ship "))
        self.assertEqual(texts[0], texts[1])
        in_little = ["generate", "run", "--prompt", "ship ", "--tokens", "9", "--seed", "4", "--ram"]
        least = json.loads(self.refused(3, "infeasible", *in_little, "8MiB", "--json").stderr)["needed_bytes"]
        self.assertEqual(self.run_it(*in_little, str(least)).stdout, texts[0])

    def test_the_page_shows_what_the_run_recorded_before_a_resume_too(self):
        saving = ["--set", "checkpoint_every=4", "--set", "sample_tokens=20"]
        self.assertEqual(self.run_it("train", "run.toml", *saving).returncode, 0)
        subprocess.run(["rm", "-r", os.path.join(self.path, "run", "checkpoints", "step-12")], check=True)
        self.assertEqual(self.run_it("train", "run.toml", "--resume", *saving).returncode, 0)
        page = self.page()
        end = max(self.events("run", "end"), key=lambda session: session["vmhwm_bytes"])
        baseline = self.events("run", "baseline")[-1]
        evaluation, sample = self.events("run", "evaluation")[-1], self.events("run", "sample")[-1]
        for figure in [f"({end['vmhwm_bytes']} bytes)", f"({end['needed_bytes']} bytes)",
                       f">{evaluation['bits_per_byte']:.4f} bits per byte<", f">{baseline['bits_per_byte']:.4f} bits per byte<",
                       f">{evaluation['loss']:.4f} nats a token<", "budget 300 MiB"]:
            self.assertIn(figure, page)
        plain = re.match(r"[a-z .]*", sample["text"])[0]
        self.assertIn("<h2>Sample</h2>\n<pre><b></b>" + plain, page)
        self.assertEqual(re.search(r'points="([^"]*)"', page)[1].count(","), 12)
        self.assertNotIn("host_to_device", page + pathlib.Path(self.path, "run", "trace.json").read_text(encoding="utf-8"))

    def test_a_resume_with_nothing_to_do_adds_nothing_to_the_page(self):
        for resume in [[], ["--resume"], ["--resume"]]:
            self.assertEqual(self.run_it("train", "run.toml", *resume).returncode, 0)
        self.assertEqual([e["step"] for e in self.events("run", "evaluation")], [12] * 3)
        self.assertEqual(len(self.events("run", "end")), 3)
        page = self.page()
        self.assertEqual(page.count("<circle"), 2, "loss and bits per byte of the validation text")
        self.assertNotIn("<td>training time</td><td>0 s</td>", page)

    def test_skipped_updates_are_counted_once(self):
        skipping = ["train", "run.toml", "--set", "lr=1e30", "--set", "on_non_finite=skip", "--set", "max_skips=2"]
        self.refused(2, "is saved in run", *skipping)
        self.assertIn("<td>updates skipped</td><td>2</td>", self.page())
        # The state of after the first session is not saved anew: the second resume makes the first one's updates again.
        for _ in "ab":
            self.refused(2, "stopped before any weight changed", *skipping, "--resume")
            self.assertEqual([(e["step"], e["samples"], e["skipped"]) for e in self.events("run")],
                             [(1, 2, False), (2, 4, True), (2, 6, True), (2, 10, True), (2, 12, True)])
            self.assertIn("<td>updates skipped</td><td>4</td>", self.page())

    def test_damaged_lines_of_the_metrics_are_dropped(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        with open(os.path.join(self.path, "run", "metrics.jsonl"), "a") as file:
            file.write('{"event":"step","step":"x"}\n{"event":"step","samples":[]}\n[]\n{"event":"st')
        done = self.run_it("train", "run.toml", "--resume", "--set", "steps=13")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([e["step"] for e in self.events("run")], list(range(1, 14)))

    def test_metrics_that_cannot_be_read_are_an_error(self):
        process = self.started()
        os.remove(os.path.join(self.path, "run", "metrics.jsonl"))
        process.send_signal(signal.SIGTERM)
        stderr = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130)
        self.assertIn("its page is not written: cannot read 'run/metrics.jsonl'", stderr)
        os.symlink("/proc/self/mem", os.path.join(self.path, "run", "metrics.jsonl"))
        self.refused(4, "cannot read 'run/metrics.jsonl'", "train", "run.toml", "--resume")

    def test_the_trace_of_very_many_microbatches_is_cut(self):
        done = self.run_it("train", "run.toml", "--set", "batch_size=1", "--set", "accumulate=1000", "--set", "n_layer=6",
                           "--set", "n_embd=8", "--set", "steps=2")
        self.assertIn("trace.json holds the first 65536 of the step's ", done.stdout, done.stderr)
        with open(os.path.join(self.path, "run", "trace.json")) as file:
            self.assertGreater(len(json.load(file)["traceEvents"]), 65536)

    def test_a_run_that_ended_before_its_first_checkpoint_begins_again(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        whole = {e["step"]: e["loss"] for e in self.events("run")}
        subprocess.run(["rm", "-r", os.path.join(self.path, "run", "checkpoints")], check=True)
        again = self.run_it("train", "run.toml", "--resume")
        self.assertEqual(again.returncode, 0)
        self.assertIn("warning: the run has no checkpoint, so it begins again", again.stderr)
        self.assertEqual([(e["step"], e["loss"]) for e in self.events("run")], sorted(whole.items()))

    def test_a_damaged_newest_checkpoint_is_passed_over_with_a_word(self):
        self.assertEqual(self.run_it("train", "run.toml", "--set", "checkpoint_every=4").returncode, 0)
        with open(os.path.join(self.path, "run", "checkpoints", "step-12", "model.safetensors"), "r+b") as file:
            file.truncate(100)
        for words in [["generate", "run", "--tokens", "3"], ["train", "run.toml", "--resume"]]:
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("warning: the newest checkpoint is damaged (", done.stderr)
            self.assertIn("step-8\n", done.stderr)

    def test_damaged_tokens_are_noticed_on_resume_and_can_be_made_again(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        tokens = os.path.join(self.path, "run", "train.bin")
        with open(tokens, "rb") as file:
            whole = file.read()
        with open(tokens, "r+b") as file:
            file.seek(1024 + 100)
            file.write(b"~")
        more = ["train", "run.toml", "--resume", "--set", "steps=13"]
        self.refused(5, "train.bin does not hold the training tokens that the run began with", *more)
        with open(tokens, "r+b") as file:
            file.truncate(1024 + 50)
        self.refused(5, "remove the file, and resuming makes it again", *more)
        os.remove(tokens)
        done = self.run_it(*more)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(tokens, "rb") as file:
            self.assertEqual(file.read(), whole)

    def test_other_data_are_told_from_damaged_ones_on_resume(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        with open(os.path.join(self.path, "text.txt")) as file:
            text = file.read()
        self.write("other.txt", text)
        self.refused(2, "the run began with data.train = 'text.txt', it is now 'other.txt'", "train", "run.toml",
                     "--resume", "--set", "data.train=other.txt")
        self.write("text.txt", text.replace("hull", "keel"))
        self.refused(5, "text.txt does not hold the training text that the run began with", "train", "run.toml",
                     "--resume", "--set", "steps=13")

    def test_a_folder_without_its_run_file_is_no_run(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        os.makedirs(os.path.join(self.path, "a", "b"))
        os.rename(os.path.join(self.path, "run"), os.path.join(self.path, "a", "b", "run"))
        os.rename(os.path.join(self.path, "a", "b", "run", "run.toml"), os.path.join(self.path, "a", "run.toml"))
        self.refused(2, "no run.toml", "generate", "a/b/run", "--tokens", "3")

    def test_a_signal_ends_generation_too(self):
        endless = ["--tokens", "100000000"]
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        self.check_ends_by_signal("generate", "run", *endless)
        self.check_ends_by_signal("train", "run.toml", "--resume", "--set", "sample_tokens=100000000")

    def check_ends_by_signal(self, *words):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        time.sleep(1)
        process.terminate()
        stderr = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("stopped while text was generated", stderr)

    def test_room_for_the_start_of_a_sample_is_checked_first(self):
        self.refused(2, "sample_prompt has 1 tokens", "train", "run.toml", "--set", "block_size=1", "--set",
                     "sample_tokens=3")

    def test_a_resumed_run_must_share_what_its_state_depends_on(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        for change in ["train.seed=6", "train.batch_size=4", "optimizer.name=adam", "data.validation_fraction=0.3"]:
            self.refused(2, change.split("=")[0], "train", "run.toml", "--resume", "--set", change)
        done = self.run_it("train", "run.toml", "--resume", "--set", "steps=13", "--set", "lr=1e-3")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_diverged_run_keeps_the_state_before(self):
        done = self.refused(2, "not finite", "train", "run.toml", "--set", "lr=1e30")
        self.assertIn("is saved in run", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertTrue(os.listdir(os.path.join(self.path, "run", "checkpoints")))
        self.assertIn("<td>peak resident memory of the process</td>", self.page())

    def test_two_runs_never_share_a_folder(self):
        first = self.started()
        self.refused(4, "another process uses", "train", "run.toml", "--resume")
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 130)

    def test_a_reader_that_goes_away_ends_no_run(self):
        process = subprocess.Popen([PROGRAM, "train", "run.toml"], cwd=self.path, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        self.assertIn("standard output", process.stderr.read())
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 4)
        self.assertEqual(self.events("run", "end")[0]["event"], "end")

    def test_numbers_out_of_range_are_one_line(self):
        for words in [["bench", "step", "mlp-mnist", "--batch", "0"], ["bench", "op", "relu", "--seconds", "nan"],
                      ["plan", "gpt2-124m", "--seq", "x"], ["generate", "run", "--seed", "-1"],
                      ["plan", "gpt2-124m", "--threads", "5000"]]:
            done = self.refused(2, words[-1], *words)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.refused(2, "--ram", "plan", "gpt2-124m", "--ram", "")

    def test_a_refusal_is_json_where_json_is_asked_for(self):
        done = self.refused(3, "needed_bytes", "plan", "gpt2-124m", "--ram", "1MiB", "--json")
        self.assertGreater(json.loads(done.stderr)["needed_bytes"], 1 << 20)

    def test_a_run_file_is_a_file(self):
        os.mkfifo(os.path.join(self.path, "pipe.toml"))
        self.refused(4, "pipe.toml", "plan", "pipe.toml")
        self.refused(4, "/dev/zero", "train", "/dev/zero")

    def test_generates_beyond_the_context(self):
        self.assertEqual(self.run_it("train", "run.toml", "--set", "steps=60").returncode, 0)
        greedy = ["generate", "run", "--temperature", "0"]
        text = self.run_it(*greedy, "--prompt", "ship ", "--tokens", "25").stdout.rstrip("\n")
        self.assertEqual(len(text), 5 + 25)
        self.assertEqual(self.run_it(*greedy, "--prompt", "ship ", "--tokens", "12").stdout.rstrip("\n"), text[:17])
        # The 17th byte finds the 16 positions full: the last 8 bytes are the new start, as they would be of a prompt.
        again = self.run_it(*greedy, "--prompt", text[9:17], "--tokens", "8").stdout.rstrip("\n")
        self.assertEqual(again, text[9:25])

    def test_sizes_beyond_32_bits_are_refused_and_the_smallest_run(self):
        step = ["bench", "step"]
        self.refused(2, "[gpt2] batch is 2000000000; expected 1..2097151", *step, "gpt2-124m", "--batch", "2000000000",
                     "--seq", "1024")
        self.refused(2, "[bert] batch is 2147483648", *step, "bert-base", "--batch", "2147483648", "--seq", "128")
        self.refused(2, "[gpt2] batch is 9223372036854775807", *step, "gpt2-124m", "--batch", str(2**63 - 1))
        for model in [["mlp-mnist", "--batch", "2000000000"], ["gpt2-124m", "--batch", "2097151", "--seq", "1024"]]:
            self.refused(3, "the run needs", *step, *model)
        for batch in ["1", "3"]:
            one, crowded = [self.run_it(*step, "mlp-mnist", "--batch", batch, "--threads", threads, "--steps", "1", "--json")
                            for threads in ["1", "8"]]
            self.assertEqual(one.returncode, 0, one.stderr)
            self.assertEqual(json.loads(one.stdout)["last_loss"], json.loads(crowded.stdout)["last_loss"])
            self.assertIn("8 threads share", json.loads(crowded.stderr)["message"])

    def test_generates_several_texts_at_once_as_one_at_a_time(self):
        self.assertEqual(self.run_it("train", "run.toml", "--set", "steps=30").returncode, 0)
        prompts = ["ship ", "a", "the sea ", ""]
        pathlib.Path(self.path, "prompts.txt").write_text("\n".join(prompts[1:]) + "\n", encoding="utf-8")
        words = ["generate", "run", "--tokens", "20", "--seed", "2", "--json"]
        alone = [json.loads(self.run_it(*words, "--prompt", prompt).stdout)["text"] for prompt in prompts]
        for batch in [[], ["--batch", "2"]]:
            done = self.run_it(*words, "--prompt", prompts[0], "--prompt_file", "prompts.txt", *batch)
            together = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([(row["prompt"], row["text"]) for row in together], list(zip(prompts, alone)), done.stderr)
        plain = self.run_it(*words[:-1], "--prompt", prompts[0], "--prompt", prompts[1]).stdout
        self.assertEqual(plain, f"{prompts[0]}{alone[0]}\n\n{prompts[1]}{alone[1]}\n")
        self.refused(4, "nowhere.txt", *words, "--prompt_file", "nowhere.txt")

    def test_a_resumed_run_has_the_same_losses_bit_by_bit(self):
        self.assertEqual(self.run_it("train", "run.toml", "--set", "run.folder=whole").returncode, 0)
        self.assertEqual(self.run_it("train", "run.toml", "--set", "checkpoint_every=5", "--set", "steps=12").returncode, 0)
        last = os.path.join(self.path, "run", "checkpoints")
        self.assertIn("step-12", os.listdir(last))
        # Drop what came after update 10, as a killed run would have it.
        subprocess.run(["rm", "-r", os.path.join(last, "step-12")], check=True)
        done = self.run_it("train", "run.toml", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = {e["step"]: e["loss"] for e in self.events("whole")}
        resumed = {e["step"]: e["loss"] for e in self.events("run")}
        self.assertEqual(whole, resumed)

    def test_metrics_say_which_updates_were_skipped(self):
        # The first update makes weights of 1e30, with which no later one is finite.
        words = ["train", "run.toml", "--set", "lr=1e30", "--set", "on_non_finite=skip", "--set", "max_skips=2",
                 "--set", "eval_every=1"]
        done = self.refused(2, "update 2 stopped before any weight changed", *words)
        self.assertIn("(3 updates in a row)", done.stderr)
        self.assertEqual(done.stdout.count("skipped an update: "), 2, done.stdout)
        steps = [(e["step"], e["skipped"], e["loss"] is None) for e in self.events("run")]
        self.assertEqual(steps, [(1, False, False), (2, True, True), (2, True, True)])
        self.assertIn("is not finite; the first tensor that is not: ", self.events("run")[1]["reason"])
        self.assertEqual(len(self.events("run", "evaluation")), 1)

    def test_sigterm_ends_with_a_saved_state(self):
        process = self.started()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(os.listdir(os.path.join(self.path, "run", "checkpoints")))
        end = self.events("run", "end")[0]
        self.assertGreater(end["train_seconds"], 0)
        self.assertIn(f"({end['vmhwm_bytes']} bytes)", self.page())
        self.assertEqual(self.run_it("generate", "run", "--tokens", "3").returncode, 0)

    def test_a_budget_that_is_too_small_is_refused_before_the_data_are_read(self):
        os.remove(os.path.join(self.path, "text.txt"))
        done = self.refused(3, "least budget", "train", "run.toml", "--set", "memory.ram=20MiB",
                            "--set", "batch_size=16")
        self.assertIn("--set train.batch_size=1 --set train.accumulate=16", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.path, "run")))

    def test_the_named_option_lowers_the_need_by_what_it_says(self):
        self.write("run.toml", RUN_FILE.replace("batch_size = 2", "batch_size = 64"))  # more than the data need
        given = ["--rates", "1e11,1e10", "--json"]
        mlp = ["plan", "mlp-mnist", "--batch", "64"]
        for plan, words in [(["plan", "run.toml"], ["train", "run.toml", "--set", "memory.ram=20MiB"]),
                            (mlp, [*mlp, "--ram", "20MiB"]), ([*mlp, "--inference"], [*mlp, "--inference", "--ram", "1MiB"]),
                            (mlp, ["bench", "step", "mlp-mnist", "--batch", "64", "--ram", "20MiB"])]:
            need = json.loads(self.run_it(*plan, *given).stdout)["least_budget_bytes"]
            refusal = json.loads(self.refused(3, "infeasible", *words, *given).stderr)
            self.assertEqual(refusal["needed_bytes"], need)
            self.assertTrue(refusal["remedies"], words)
            for remedy in refusal["remedies"]:
                changes = remedy["option"].split()
                # An option that the line has already is given its new value there.
                new = {} if changes[0] == "--set" else dict(zip(changes[::2], changes[1::2]))
                line = [new.get(plan[i - 1], word) if i > 0 else word for i, word in enumerate(plan)]
                line += changes if line == plan else []
                then = json.loads(self.run_it(*line, *given).stdout)["least_budget_bytes"]
                self.assertEqual(then, need - remedy["saved_bytes"], remedy)

    def test_a_remedy_can_be_typed_whatever_else_the_file_says(self):
        larger = RUN_FILE.replace("batch_size = 2", "batch_size = 64")
        self.write("run.toml", larger.replace("lr = 1e-2", "lr = 1e-2\nbetas = [0.9, 0.95]"))
        self.refused(3, "--set optimizer.name=sgd: ", "train", "run.toml", "--set", "memory.ram=20MiB")
        self.assertEqual(self.run_it("plan", "run.toml", "--set", "optimizer.name=sgd").returncode, 0)

    def test_a_resume_with_other_options_keeps_both_run_files(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        done = self.run_it("train", "run.toml", "--resume", "--set", "steps=14", "--set", "lr=2e-3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("options changed since the run began: train.steps 12 → 14, optimizer.lr 0.01 → 0.002; the run "
                      "file of before is run/run.1.toml", done.stderr)
        for name, steps in [("run.toml", 14), ("run.1.toml", 12)]:
            with open(os.path.join(self.path, "run", name)) as file:
                self.assertIn(f"\nsteps = {steps}\n", file.read())
        self.assertEqual(self.run_it("train", "run/run.toml", "--resume").stderr, "")

    def test_the_plan_of_a_run_is_what_its_end_says(self):
        for ram in ["40MiB", "300MiB"]:
            shutil.rmtree(os.path.join(self.path, "run"), ignore_errors=True)
            plan = json.loads(self.run_it("plan", "run.toml", "--ram", ram, "--json").stdout)
            done = self.run_it("train", "run.toml", "--ram", ram, "--json")
            end = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual(plan["process_bytes"], end["needed_bytes"])
            self.assertEqual(ram == "300MiB", plan["process_bytes"] > plan["least_budget_bytes"], "the byte model")

    def test_every_evaluation_has_the_bits_of_the_text_it_was_of(self):
        done = self.run_it("train", "run.toml", "--set", "eval_every=4", "--set", "eval_batches=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        evaluations = self.events("run", "evaluation")
        self.assertEqual([e["step"] for e in evaluations], [4, 8, 12])
        self.assertLess(evaluations[0]["targets"], evaluations[-1]["targets"])
        for event in evaluations:  # a token is a byte
            self.assertAlmostEqual(event["bits_per_byte"], event["loss"] / math.log(2), 9)

    def test_only_what_a_resume_may_change_is_named_to_it(self):
        self.write("run.toml", RUN_FILE.replace("batch_size = 2", "batch_size = 64"))
        self.assertEqual(self.run_it("train", "run.toml", "--set", "steps=1").returncode, 0)
        done = self.refused(3, "--set train.batch_size=1 --set train.accumulate=64", "train", "run.toml", "--resume",
                            "--ram", "20MiB")
        self.assertNotIn("optimizer.name", done.stderr)
        self.assertNotIn("seq_len", done.stderr)

    def test_text_that_no_run_file_can_hold_is_refused_before_the_run(self):
        for key in [b"data.separator", b"sample_prompt", b"run.folder", b"data.train"]:
            done = subprocess.run([PROGRAM, "train", "run.toml", "--set", key + b"=\xff"], cwd=self.path,
                                  capture_output=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b" in UTF-8", done.stderr)
            self.assertEqual(done.stdout, b"")
            self.assertFalse(os.path.exists(os.path.join(self.path, "run")))

    def test_a_long_override_does_not_hide_the_reason(self):
        self.refused(2, "expected less than the model's block_size", "train", "run.toml", "--set",
                     "sample_prompt=" + 3000 * "x", "--set", "sample_tokens=2")

    def test_missing_data_are_said_at_once(self):
        done = self.refused(4, "run.toml:10: [data] train names 'text.txt', which does not exist", "train",
                            self.without_text())
        self.assertEqual(done.stdout, "")

    def without_text(self):
        os.remove(os.path.join(self.path, "text.txt"))
        return "run.toml"

    def test_given_rates_make_the_prediction_the_same_each_time(self):
        for words in [["plan", "mlp-mnist"], ["plan", "mlp-mnist", "--inference"], ["plan", "run.toml"],
                      ["plan", "run.toml", "--inference"]]:
            outs = [self.run_it(*words, "--rates", "1e11,1e10", "--json") for _ in "ab"]
            self.assertEqual(outs[0].returncode, 0, outs[0].stderr)
            self.assertEqual(outs[0].stdout, outs[1].stdout)
            self.assertGreater(json.loads(outs[0].stdout)["predicted_s"], 0)
        self.refused(2, "1e11,2e10", "plan", "mlp-mnist", "--rates", "many")
        self.refused(2, "1e11,2e10", "plan", "mlp-mnist", "--rates", "1e11,-1")

    def test_inference_needs_neither_gradients_nor_optimizer_state(self):
        for target in ["run.toml", "gpt2-124m"]:
            row = json.loads(self.run_it("plan", target, "--inference", "--json", "--rates", "1e11,1e10").stdout)
            self.assertEqual(row["category_bytes"]["optimizer_state"], 0)
            self.assertEqual(row["category_bytes"]["gradients"], 0)
            self.assertGreater(row["category_bytes"]["parameters"], 0)
            self.assertEqual(row["arena_bytes"], row["arena_lower_bound"])

    def test_passes_are_dumped_a_file_a_stage(self):
        stages = ["built", "autodiff", "updates", "constant_folding", "common_subexpressions", "dead_code",
                  "fuse_attention_layout", "fuse_bias_gradient", "fuse_matmul_epilogue", "fuse_elementwise"]
        for target in ["mlp-mnist", "run.toml"]:
            folder = os.path.join(self.path, "dump", target)
            plan = ["plan", target, "--rates", "1e11,1e10", "--json"]
            done = self.run_it(*plan, "--dump-passes", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, self.run_it(*plan).stdout)
            self.assertEqual(sorted(os.listdir(folder)), [f"{i:02}-{stage}.txt" for i, stage in enumerate(stages)])
            texts = [path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).iterdir())]
            self.assertTrue(all(text.startswith("graph \"") for text in texts))
            self.assertNotIn(" backward (", texts[0])
            self.assertIn(" backward (", texts[1])
            self.assertNotIn(" update (", texts[1])
            self.assertIn(" update (", texts[2])
            self.assertLess(texts[5].count("\n"), texts[2].count("\n"))
            self.refused(2, "holds files", *plan, "--dump-passes", folder)
            none = os.path.join(self.path, "unfused", target)
            self.assertEqual(self.run_it(*plan, "--fusions", "none", "--dump-passes", none).returncode, 0)
            self.assertEqual(sorted(os.listdir(none)), [f"{i:02}-{stage}.txt" for i, stage in enumerate(stages[:6])])
            self.refused(2, "fuse_elementwise", *plan, "--fusions", "fuse_elementwize")
        self.refused(2, "is no folder", "plan", "mlp-mnist", "--dump-passes", "text.txt")
        self.refused(2, "--inference", "plan", "mlp-mnist", "--inference", "--dump-passes", "other")
        self.assertFalse(os.path.exists(os.path.join(self.path, "other")))

    def test_what_cannot_be_is_one_clear_line(self):
        self.refused(2, "did you mean 'gpt2-124m'", "plan", "gpt2-124")
        self.refused(2, "did you mean", "train", "run.toml", "--set", "train.batchsize=3")
        self.refused(2, "2 apples", "train", "run.toml", "--set", "memory.ram=2 apples")
        self.refused(2, "--ram", "plan", "gpt2-124m", "--ram", "2 apples")
        self.refused(2, "batch_size", "train", "run.toml", "--set", "batch_size=0")
        self.refused(2, "batch_size", "train", "run.toml", "--set", "batch_size=many")
        self.refused(2, "seq", "train", "run.toml", "--set", "data.seq_len=1000")
        self.refused(2, "tokens", "train", "run.toml", "--set", "batch_size=2000")
        self.refused(4, "nothing.toml", "train", "nothing.toml")
        self.refused(4, "no.txt", "train", "run.toml", "--set", "data.train=no.txt")
        self.refused(4, "nowhere", "generate", "nowhere")
        self.refused(2, "temperature", "generate", "run", "--temperature", "-1")
        self.refused(3, "least budget", "bench", "generate", "gpt2-124m", "--ram", "100MiB")
        self.refused(2, "threads", "bench", "step", "mlp-mnist", "--threads", "-1")
        for words in [["fly"], [], ["bench"], ["plan", "gpt2-124m", "--batch", "-3"], ["plan", "gpt2-124m", "--batch", "x"]]:
            self.assertEqual(self.run_it(*words).returncode, 2, words)

    def test_an_unknown_word_of_the_command_line_names_the_nearest(self):
        for near, *words in [("--batch", "plan", "--bacth", "4", "gpt2-124m"), ("--batch", "plan", "--bacth=4", "x"),
                             ("--temperature", "generate", "run", "--temp", "1"), ("--ram", "train", "a", "--rma", "1"),
                             ("--threads", "bench", "op", "relu", "--thread", "1"), ("train", "trian"),
                             ("optimizer", "bench", "optimiser"), ("machine", "mach", "--json"),
                             ("matmul", "bench", "op", "matmull"), ("gpt2-124m", "plan", "gpt3"),
                             ("--batch", "plan", "-b", "4", "gpt2-124m"), ("gpt2-124m", "bench", "step", "gpt"),
                             ("optimizer", "train", "run.toml", "--set", "optim.lr=1")]:
            done = self.refused(2, f"did you mean '{near}'?", *words)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.refused(2, "it goes behind `plimsoll plan`", "--json", "plan", "gpt2-124m")
        self.refused(2, "has no use for a further 'x'", "plan", "gpt2-124m", "x")
        self.refused(2, "needs a command: step, ", "bench")
        self.refused(2, "`plimsoll plan` needs more: target is required", "plan")
        self.refused(2, "--seq needs a value", "plan", "gpt2-124m", "--seq")
        self.refused(2, "--ram is given more than once", "plan", "gpt2-124m", "--ram", "1GiB", "--ram", "2GiB")
        self.refused(2, "--temperature: 'x' is no number", "generate", "run", "--temperature", "x")
        for words in [["models", "--quite-different"], ["plan", "-3", "gpt2-124m"], ["models", "-3"], [""], ["bench", ""], ["plan", ""]]:
            self.assertNotIn("did you mean", self.refused(2, " no ", *words).stderr)

    def test_what_is_said_beside_results_is_json_where_json_is_asked_for(self):
        done = self.refused(2, "", "plan", "gpt2-124m", "--bacth", "4", "--json")
        self.assertIn("'--batch'", json.loads(done.stderr)["message"])
        self.assertEqual(json.loads(done.stderr)["event"], "error")
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        subprocess.run(["rm", "-r", os.path.join(self.path, "run", "checkpoints")], check=True)
        done = self.run_it("train", "run.toml", "--resume", "--json", "--set", "model.dropout=0.1")
        said = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual([e["event"] for e in said], ["warning"], done.stderr)
        self.assertIn("so it begins again", said[0]["message"])

    @unittest.skipIf(os.environ.get("PLIMSOLL_SANITIZE"), "a sanitizer needs more than it is given here")
    def test_memory_that_the_system_does_not_give_is_an_error_in_json_too(self):
        """With ever more address space the program cannot be loaded, then cannot plan, then can."""
        codes = []
        for size in range(20, 400, 3):
            done = subprocess.run([PROGRAM, "plan", "gpt2-1.5b", "--rates", "1e11,1e10", "--json"], capture_output=True,
                                  text=True, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20)))
            codes.append(done.returncode)
            if done.returncode == 0:
                break
            if done.returncode == 7:
                self.assertEqual(json.loads(done.stderr)["error"], "out_of_memory")
        self.assertIn(7, codes)
        self.assertEqual(codes[-1], 0)

    def test_no_byte_that_a_user_gave_commands_the_terminal(self):
        odd = "a\nb\tc\x1b[31m\x9b\x7f"
        for words in [["plan", odd], ["plan", odd + ".toml"], ["train", odd], ["generate", odd], ["bench", odd], [odd],
                      ["train", "run.toml", "--set", odd + "=1"], ["train", "run.toml", "--set", "train.seed=" + odd],
                      ["train", "run.toml", "--set", "data.train=" + odd], ["plan", "gpt2-124m", "--batch", odd],
                      ["plan", "gpt2-124m", "--ram", odd], ["plan", "gpt2-124m", "--rates", odd], ["plan", "--" + odd],
                      ["bench", "op", odd], ["bench", "op", "relu", "--src", odd], ["bench", "offsets", odd],
                      ["bench", "step", odd], ["bench", "generate", odd], ["bench", "optimizer", odd],
                      ["machine", "--quick", "--disk", odd], ["plan", "mlp-mnist", "--dump_passes", odd],
                      ["train", "run.toml", "--set", "run.folder=" + odd, "--set", "steps=1"]]:
            done = self.run_it(*words)
            self.assertFalse(set(done.stdout + done.stderr) & set("\t\x1b\x9b\x7f"), (words, done.stderr))
            if done.returncode == 2:
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertLess(len(self.refused(2, "no model", "plan", "x" * 100000).stderr), 2100)
        self.assertIn(odd, json.loads(self.refused(2, "", "plan", "no" + odd, "--json").stderr)["message"])

    def test_only_a_terminal_is_kept_from_the_bytes_of_a_text(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        words = [PROGRAM, "generate", "run", "--tokens", "3", "--seed", "1", "--prompt", "\tship\n\x1b[31m é"]
        piped = subprocess.run(words, cwd=self.path, capture_output=True, timeout=120).stdout
        self.assertTrue(piped.startswith("\tship\n\x1b[31m é".encode()), piped)
        ours, its = os.openpty()
        done = subprocess.run(words, cwd=self.path, stdout=its, stderr=subprocess.PIPE, timeout=120)
        os.close(its)
        shown = os.read(ours, 4096)
        os.close(ours)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(shown.startswith("\tship\r\n\\x1b[31m é".encode()), shown)

    def test_an_mlp_takes_no_sequence(self):
        for words in [["plan", "mlp-mnist"], ["plan", "mlp-mnist", "--inference"], ["bench", "step", "mlp-mnist"]]:
            done = self.refused(2, "--seq is given, but 'mlp-mnist' is an MLP", *words, "--seq", "64")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_the_machine_is_told_in_units(self):
        done = self.run_it("machine", "--quick")
        self.assertRegex(done.stdout, r"(?m)^host +[0-9.]+ (GiB|TiB)$")

    def test_a_measurement_is_told_in_units(self):
        done = self.run_it("bench", "step", "mlp-mnist", "--steps", "1")
        self.assertRegex(done.stdout, r"(?m)^median +[0-9.]+ .?s$")
        self.assertRegex(done.stdout, r"(?m)^needed +[0-9.]+ MiB$")
        self.assertRegex(done.stdout, r"(?m)^share of matmul +[0-9.]+ %$")
        self.assertNotIn("seq", done.stdout)

    def test_a_plan_says_how_large_the_model_is(self):
        rates = ["--rates", "1e11,1e10"]
        for target in ["gpt2-124m", "gpt2-355m"]:
            size = "124 M" if target == "gpt2-124m" else "355 M"
            for words in [["plan", target], ["plan", target, "--inference"]]:
                self.assertTrue(self.run_it(*words, *rates).stdout.startswith(f"plan of '{target}', {size} parameters: "))
        rows = [json.loads(self.run_it("plan", "run.toml", "--set", f"n_layer={n}", "--json", *rates).stdout) for n in (1, 2)]
        self.assertEqual(rows[0]["parameters"], 21472)
        self.assertEqual(rows[1]["parameters"] - rows[0]["parameters"], 12 * 32 * 32 + 13 * 32)

    def test_ram_and_threads_are_short_for_the_run_files_options(self):
        self.refused(3, "the budget is 20.0 MiB", "train", "run.toml", "--ram", "20MiB")
        self.refused(2, "--ram: size '2 apples'", "train", "run.toml", "--ram", "2 apples")
        self.refused(2, "-1", "train", "run.toml", "--threads", "-1")
        for command in ["train", "plan"]:
            for little in ["0", "0.4", "0GiB"]:
                self.refused(2, f"--ram is '{little}', less than a byte", command, "run.toml", "--ram", little)
            self.refused(3, "the budget is 1 B", command, "run.toml", "--ram", "1.5")
        self.refused(3, "the budget is 20.0 MiB", "plan", "run.toml", "--ram", "20MiB")
        self.assertIn("budget 300 MiB", self.run_it("plan", "run.toml", "--rates", "1e11,1e10").stdout)
        self.assertNotIn("budget 300 MiB", self.run_it("plan", "run.toml", "--rates", "1e11,1e10", "--ram", "auto").stdout)
        done = self.run_it("train", "run.toml", "--ram", "200MiB", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.path, "run", "run.toml")) as file:
            text = file.read()
        self.assertIn('ram = "200MiB"', text)
        self.assertIn("threads = 1\n", text)

    def test_a_dump_of_passes_is_whole_or_none(self):
        self.refused(2, "--dump_passes is ''", "plan", "mlp-mnist", "--dump_passes", "")

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        for folder, is_there in [("dump", False), ("a/b/c", False), ("empty", True)]:
            if is_there:
                os.mkdir(os.path.join(self.path, folder))
            done = subprocess.run([PROGRAM, "plan", "run.toml", "--dump_passes", folder], cwd=self.path,
                                  capture_output=True, text=True, timeout=120, preexec_fn=limit_files)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(folder, done.stderr)
            self.assertEqual(os.path.exists(os.path.join(self.path, folder.split("/")[0])), is_there)
        self.assertEqual(os.listdir(os.path.join(self.path, "empty")), [])

    def test_empty_and_binary_text_are_refused(self):
        self.write("empty.txt", "")
        self.refused(2, "empty", "train", "run.toml", "--set", "data.train=empty.txt")
        with open(os.path.join(self.path, "binary.txt"), "wb") as file:
            file.write(bytes(range(256)) * 40)
        self.assertNotEqual(self.run_it("train", "run.toml", "--set", "data.train=binary.txt").returncode, 0)

    def test_a_run_folder_that_exists_is_left_alone(self):
        os.mkdir(os.path.join(self.path, "run"))
        self.write("run/keep.txt", "mine")
        self.refused(2, "--resume", "train", "run.toml")
        self.assertEqual(os.listdir(os.path.join(self.path, "run")), ["keep.txt"])

    def test_a_damaged_checkpoint_is_named(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        path = os.path.join(self.path, "run", "checkpoints", "step-12", "model.safetensors")
        with open(path, "r+b") as file:
            file.seek(-8, os.SEEK_END)
            file.write(b"\xff" * 8)
        self.refused(5, "model.safetensors", "generate", "run", "--tokens", "3")

    def test_a_checkpoint_of_another_model_is_refused(self):
        self.assertEqual(self.run_it("train", "run.toml").returncode, 0)
        done = self.run_it("train", "run.toml", "--resume", "--set", "n_embd=64", "--set", "steps=14")
        self.assertEqual(done.returncode, 2, done.stderr)

    def write_tokens(self, name, ids, code="H", header=False):
        with open(os.path.join(self.path, name), "wb") as file:
            if header:
                magic, version = (20240520, 1) if code == "H" else (20240801, 7)
                file.write(struct.pack("<256i", magic, version, len(ids), *[0] * 253))
            file.write(struct.pack(f"<{len(ids)}{code}", *ids))

    def train_tokens(self, folder, *settings):
        self.write("tokens.toml", RUN_FILE.replace('train = "text.txt"\ntokenizer = "bytes"',
                                                   'kind = "tokens"\ntrain = "tokens.bin"'))
        words = [f"run.folder={folder}", "steps=3", *settings]
        return self.run_it("train", "tokens.toml", *[w for word in words for w in ("--set", word)])

    def test_token_files_of_every_layout_train_alike(self):
        ids = [i * i % 290 for i in range(400)]
        losses = []
        for folder, code, header in [("a", "H", False), ("b", "H", True), ("c", "I", True), ("d", "I", False)]:
            self.write_tokens("tokens.bin", ids, code, header)
            settings = ["data.token_dtype=u32"] if folder == "d" else []
            done = self.train_tokens(folder, "model.vocab_size=300", *settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append([e["loss"] for e in self.events(folder)])
        self.assertEqual(len(losses[0]), 3)
        self.assertEqual(losses, [losses[0]] * 4)
        self.refused(2, "tokenizer", "generate", "a", "--tokens", "3")

    def test_text_is_written_from_token_files_only_with_their_tokenizer(self):
        with open(os.path.join(self.path, "text.txt"), "rb") as file:
            self.write_tokens("tokens.bin", list(file.read()))
        done = self.train_tokens("none", "sample_tokens=5", "model.vocab_size=300")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tokenizer", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.path, "none")))
        done = self.train_tokens("bytes", "sample_tokens=5", "data.tokenizer=bytes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.events("bytes", "sample")), 1)
        self.assertGreater(self.events("bytes", "evaluation")[-1]["bits_per_byte"], 0)
        self.assertEqual(self.run_it("generate", "bytes", "--tokens", "3").returncode, 0)
        self.write_tokens("tokens.bin", [i % 299 for i in range(400)])
        done = self.train_tokens("other", "data.tokenizer=bytes", "model.vocab_size=300")
        self.assertEqual(done.returncode, 5)
        self.assertIn("tokenizer has 256 ids", done.stderr)

    def test_a_model_file_is_the_tokenizer_of_tokens_that_it_made(self):
        self.assertEqual(self.run_it("train", "run.toml", "--set", "steps=2", "--set", "data.tokenizer=sentencepiece",
                                     "--set", "data.vocab_size=320", "--set", "sample_tokens=4").returncode, 0)
        self.assertTrue(os.path.exists(os.path.join(self.path, "run", "tokenizer.model")))
        self.assertEqual(len(self.events("run", "baseline")), 1)
        self.assertIn("known_word_share", self.events("run", "sample")[0])
        texts = {self.run_it("generate", "run", "--prompt", "ship", "--tokens", "4").stdout for _ in "ab"}
        self.assertEqual(len(texts), 1)
        os.rename(os.path.join(self.path, "run", "train.bin"), os.path.join(self.path, "tokens.bin"))
        done = self.train_tokens("tokens", "data.tokenizer=run/tokenizer.model", "sample_tokens=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_it("generate", "tokens", "--prompt", "ship", "--tokens", "4").returncode, 0)

    def test_bert_trains_on_text_and_writes_none(self):
        bert = [w for word in ["model.name=bert", "steps=4", "eval_every=2", "lr=1e-3"] for w in ("--set", word)]
        self.refused(6, "cannot generate", "train", "run.toml", *bert, "--set", "sample_tokens=5")
        self.assertFalse(os.path.exists(os.path.join(self.path, "run")))
        done = self.run_it("train", "run.toml", *bert)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([e["step"] for e in self.events("run", "evaluation")], [2, 4])
        self.refused(6, "cannot generate", "generate", "run", "--tokens", "3")

    def test_ids_that_bert_keeps_for_itself_are_no_tokens(self):
        self.write_tokens("tokens.bin", [i % 98 for i in range(400)])
        done = self.train_tokens("run", "model.name=bert", "model.vocab_size=100")
        self.assertEqual(done.returncode, 5)
        self.assertIn("keeps ids 97..99 for [CLS], [SEP] and [MASK]", done.stderr)
        done = self.train_tokens("run", "model.name=bert", "model.vocab_size=101")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_files_are_kept_apart_by_the_separator_that_is_given(self):
        os.mkdir(os.path.join(self.path, "texts"))
        for name in "ab":
            self.write(f"texts/{name}.txt", "some words of a document " * 8)
        done = self.run_it("train", "run.toml", "--set", "steps=1", "--set", "data.train=texts",
                           "--set", "data.separator=<|endoftext|>", "--set", "validation_fraction=0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.path, "run", "train.bin"), "rb") as file:
            text = bytes(file.read()[1024::2])
        self.assertEqual(text.count(b"<|endoftext|>"), 1)
        self.assertNotIn(b"\f", text)

    def test_a_prompt_that_is_too_long_is_refused_before_training(self):
        self.refused(2, "sample_prompt", "train", "run.toml", "--set", "sample_tokens=5",
                     "--set", "sample_prompt=a prompt beyond sixteen tokens")
        self.assertFalse(os.path.exists(os.path.join(self.path, "run")))

    def test_a_path_that_cannot_be_followed_is_an_io_error(self):
        os.symlink("loop", os.path.join(self.path, "loop"))
        self.refused(4, "loop", "generate", "loop", "--tokens", "3")

    def test_json_lines_are_json(self):
        for words in [["models", "--json"], ["plan", "mlp-mnist", "--json"], ["machine", "--quick", "--json"],
                      ["bench", "step", "mlp-mnist", "--steps", "1", "--json"], ["train", "run.toml", "--json"],
                      ["generate", "run", "--tokens", "3", "--json"]]:
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in done.stdout.splitlines():
                self.assertTrue(json.loads(line)["event"])

    def test_a_profile_adds_up_to_the_step(self):
        words = ["bench", "step", "mlp-mnist", "--steps", "3", "--profile"]
        rows = [json.loads(line) for line in self.run_it(*words, "--json").stdout.splitlines()]
        ops = {row["op"]: row for row in rows if row["event"] == "profile_op"}
        layers = [row for row in rows if row["event"] == "profile_layer"]
        # Three layers forward, of which the first passes no gradient on: 3 + 3 + 2 products.
        # Those behind which an activation or its gradient stands, and those of weights, are fused with them.
        products = [row for op, row in ops.items() if op.startswith("matmul")]
        self.assertEqual(sum(row["calls"] for row in products), 8)
        flops = sum(row["flops"] for row in products)
        self.assertTrue(0.6 < flops / rows[0]["flops"] < 1, "all but the gradient of what is fed")
        calls = [row for row in rows if row["event"] == "profile_call"]
        self.assertEqual(sum(row["calls"] for row in calls if row["call"].startswith("matmul")), 8)
        for key in ["seconds", "flops", "bytes", "bound_s"]:
            self.assertAlmostEqual(sum(row[key] for row in ops.values()) / sum(row[key] for row in layers), 1, places=6)
        self.assertRegex(self.run_it(*words).stdout, r"(?m)^a step: .* of which .* between instructions$")

    def test_the_executed_peak_is_the_predicted_one(self):
        row = json.loads(self.run_it("bench", "step", "mlp-mnist", "--steps", "1", "--json").stdout)
        self.assertEqual(row["predicted_peak_bytes"], row["executed_peak_bytes"])
        self.assertEqual(row["step_lower_bound_bytes"], row["step_height_bytes"])


if __name__ == "__main__":
    unittest.main()
