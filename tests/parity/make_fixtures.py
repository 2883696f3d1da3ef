#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what parity_test compares with: small models trained by PyTorch in f32, one thread, from stored weights.

    pip install torch numpy && tests/parity/make_fixtures.py

One safetensors file a model, in data/ beside this script:
    weight.<parameter>   values before the first step, under the parameter's name in Hugging Face's files
    gradient.<parameter> d loss / d parameter on the first batch
    <input>              i32, one leading axis of batches; step s takes batch s modulo their number
    loss.<run>           the loss of every step
    norm.<run>           the 2-norm of all gradients of every step, before clipping

Weights and tokens come from a seeded generator, losses from float arithmetic: another machine gives the same file but
for the last digits.
"""

import json
import math
import pathlib
import struct

import numpy
import torch
import torch.nn.functional as F

BATCHES, BATCH, SEQ, VOCAB, WIDTH, HEADS, LAYERS = 10, 4, 16, 101, 24, 2, 2
POSITIONS = 20  # more than SEQ, so that some rows have no gradient
IGNORED = -100

RUNS = {
    # name: steps, greatest norm of the gradients, optimizer over parameter groups
    "adamw": (100, None, lambda groups: torch.optim.AdamW(groups, lr=1e-3)),
    "adamw_clipped": (20, 1.0, lambda groups: torch.optim.AdamW(groups, lr=1e-3)),
    "sgd_clipped": (20, 1.0, lambda groups: torch.optim.SGD(groups, lr=0.1)),
    "momentum": (20, None, lambda groups: torch.optim.SGD(groups, lr=0.02, momentum=0.9)),
    "nesterov": (20, None, lambda groups: torch.optim.SGD(groups, lr=0.02, momentum=0.9, nesterov=True)),
    "amsgrad": (20, None, lambda groups: torch.optim.Adam(groups, lr=1e-3, amsgrad=True)),
}


def linear_in_out(w, name, x):
    """GPT-2's files keep weights as [in, out]."""
    return x @ w[name + ".weight"] + w[name + ".bias"]


def linear(w, name, x):
    return F.linear(x, w[name + ".weight"], w[name + ".bias"])


def norm(w, name, x, eps):
    return F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"], eps)


def attend(q, k, v, is_causal):
    """Softmax attention written out. Shapes: [B,T,d] each."""
    q, k, v = (t.view(t.shape[0], SEQ, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
    scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
    if is_causal:
        scores = scores.masked_fill(torch.ones(SEQ, SEQ).triu(1).bool(), -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(q.shape[0], SEQ, WIDTH)


def with_bias(name, out_first, rows, columns):
    shape = (rows, columns) if out_first else (columns, rows)
    return {name + ".weight": shape, name + ".bias": (rows,)}


def norm_shapes(name):
    return {name + ".weight": (WIDTH,), name + ".bias": (WIDTH,)}


class Gpt2:
    name = "gpt2"

    def shapes(self):
        out = {"wte.weight": (VOCAB, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
        for i in range(LAYERS):
            h = f"h.{i}."
            out |= norm_shapes(h + "ln_1") | with_bias(h + "attn.c_attn", False, 3 * WIDTH, WIDTH)
            out |= with_bias(h + "attn.c_proj", False, WIDTH, WIDTH) | norm_shapes(h + "ln_2")
            out |= with_bias(h + "mlp.c_fc", False, 4 * WIDTH, WIDTH)
            out |= with_bias(h + "mlp.c_proj", False, WIDTH, 4 * WIDTH)
        return out | norm_shapes("ln_f")

    def inputs(self, rng):
        text = noisy_walks(rng, SEQ + 1)
        targets = numpy.where(rng.random(text[:, :, 1:].shape) < 0.1, IGNORED, text[:, :, 1:])
        targets[1, 2] = IGNORED  # a whole row: a microbatch of one row has no valid token
        return {"tokens": text[:, :, :-1], "targets": targets}

    def loss(self, w, batch):
        x = F.embedding(batch["tokens"], w["wte.weight"]) + w["wpe.weight"][:SEQ]
        for i in range(LAYERS):
            h = f"h.{i}."
            q, k, v = linear_in_out(w, h + "attn.c_attn", norm(w, h + "ln_1", x, 1e-5)).split(WIDTH, 2)
            x = x + linear_in_out(w, h + "attn.c_proj", attend(q, k, v, True))
            up = F.gelu(linear_in_out(w, h + "mlp.c_fc", norm(w, h + "ln_2", x, 1e-5)), approximate="tanh")
            x = x + linear_in_out(w, h + "mlp.c_proj", up)
        logits = norm(w, "ln_f", x, 1e-5) @ w["wte.weight"].T
        return F.cross_entropy(logits.view(-1, VOCAB), batch["targets"].reshape(-1), ignore_index=IGNORED)


class Bert:
    name = "bert"
    eps = 1e-12

    def shapes(self):
        e = "bert.embeddings."
        out = {e + "word_embeddings.weight": (VOCAB, WIDTH), e + "position_embeddings.weight": (POSITIONS, WIDTH)}
        out |= {e + "token_type_embeddings.weight": (2, WIDTH)} | norm_shapes(e + "LayerNorm")
        for i in range(LAYERS):
            p = f"bert.encoder.layer.{i}."
            for part in ("self.query", "self.key", "self.value", "output.dense"):
                out |= with_bias(p + "attention." + part, True, WIDTH, WIDTH)
            out |= norm_shapes(p + "attention.output.LayerNorm")
            out |= with_bias(p + "intermediate.dense", True, 4 * WIDTH, WIDTH)
            out |= with_bias(p + "output.dense", True, WIDTH, 4 * WIDTH) | norm_shapes(p + "output.LayerNorm")
        out |= with_bias("bert.pooler.dense", True, WIDTH, WIDTH)
        out |= with_bias("cls.predictions.transform.dense", True, WIDTH, WIDTH)
        out |= norm_shapes("cls.predictions.transform.LayerNorm") | {"cls.predictions.bias": (VOCAB,)}
        return out | with_bias("cls.seq_relationship", True, 2, WIDTH)

    def inputs(self, rng):
        text = noisy_walks(rng, SEQ)
        is_masked = rng.random(text.shape) < 0.2
        is_masked[:, 0, 3] = True
        is_masked[1, 2] = False  # a whole row: a microbatch of one row has no valid token
        return {
            "tokens": numpy.where(is_masked, 1, text),
            "segments": (numpy.arange(SEQ) >= rng.integers(4, 12, (BATCHES, BATCH, 1))).astype(numpy.int32),
            "targets": numpy.where(is_masked, text, IGNORED),
            "next_sentence": rng.integers(0, 2, (BATCHES, BATCH)),
        }

    def loss(self, w, batch):
        e = "bert.embeddings."
        x = F.embedding(batch["tokens"], w[e + "word_embeddings.weight"]) + w[e + "position_embeddings.weight"][:SEQ]
        x = norm(w, e + "LayerNorm", x + F.embedding(batch["segments"], w[e + "token_type_embeddings.weight"]), self.eps)
        for i in range(LAYERS):
            p = f"bert.encoder.layer.{i}."
            q, k, v = (linear(w, p + "attention.self." + part, x) for part in ("query", "key", "value"))
            y = linear(w, p + "attention.output.dense", attend(q, k, v, False))
            x = norm(w, p + "attention.output.LayerNorm", x + y, self.eps)
            y = linear(w, p + "output.dense", F.gelu(linear(w, p + "intermediate.dense", x)))
            x = norm(w, p + "output.LayerNorm", x + y, self.eps)
        y = F.gelu(linear(w, "cls.predictions.transform.dense", x))
        y = norm(w, "cls.predictions.transform.LayerNorm", y, self.eps)
        logits = F.linear(y, w[e + "word_embeddings.weight"], w["cls.predictions.bias"])
        tokens = F.cross_entropy(logits.view(-1, VOCAB), batch["targets"].reshape(-1), ignore_index=IGNORED)
        pooled = linear(w, "bert.pooler.dense", x[:, 0]).tanh()
        return tokens + F.cross_entropy(linear(w, "cls.seq_relationship", pooled), batch["next_sentence"])


def noisy_walks(rng, length):
    """Sequences in which most tokens follow from the one before, so that there is something to learn."""
    out = rng.integers(2, VOCAB, (BATCHES, BATCH, length))
    for t in range(1, length):
        follows = rng.random((BATCHES, BATCH)) < 0.8
        out[:, :, t] = numpy.where(follows, (3 * out[:, :, t - 1] + 7) % VOCAB, out[:, :, t])
    return out


def draw_weights(rng, shapes):
    """Far from zero everywhere, biases too, and norms off one: an error in any of them shows."""
    out = {}
    for name, shape in shapes.items():
        is_norm = len(shape) == 1 and name.endswith(".weight")
        out[name] = (is_norm + (0.2 if len(shape) > 1 else 0.1) * rng.standard_normal(shape)).astype(numpy.float32)
    return out


def train(model, weights, batches, run):
    """Returns losses, norms and the gradients of the first step."""
    steps, max_norm, make_optimizer = RUNS[run]
    w = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
    optimizer = make_optimizer([
        {"params": [p for p in w.values() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in w.values() if p.dim() == 1], "weight_decay": 0.0},
    ])
    losses, norms, gradients = [], [], {}
    for step in range(steps):
        optimizer.zero_grad()
        loss = model.loss(w, batches[step % BATCHES])
        loss.backward()
        gradients = gradients or {name: p.grad.numpy().copy() for name, p in w.items()}
        norms.append(torch.nn.utils.clip_grad_norm_(w.values(), max_norm or math.inf).item())
        losses.append(loss.item())
        optimizer.step()
    return numpy.float32(losses), numpy.float32(norms), gradients


def write_safetensors(path, tensors):
    header, offset = {"__metadata__": {"torch": torch.__version__}}, 0
    for name, value in tensors.items():
        dtype = {"float32": "F32", "int32": "I32"}[value.dtype.name]
        header[name] = {"dtype": dtype, "shape": value.shape, "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(numpy.ascontiguousarray(value).tobytes())


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    folder = pathlib.Path(__file__).parent / "data"
    folder.mkdir(exist_ok=True)
    for seed, model in enumerate((Gpt2(), Bert())):
        rng = numpy.random.default_rng(seed)
        weights = draw_weights(rng, model.shapes())
        inputs = {name: value.astype(numpy.int32) for name, value in model.inputs(rng).items()}
        batches = [{name: torch.tensor(value[i]).long() for name, value in inputs.items()} for i in range(BATCHES)]
        tensors = {"weight." + name: value for name, value in weights.items()} | inputs
        for run in RUNS:
            losses, norms, gradients = train(model, weights, batches, run)
            tensors |= {"loss." + run: losses, "norm." + run: norms}
            print(f"{model.name} {run}: loss {losses[0]:.4f} to {losses[-1]:.4f}, norm {norms.min():.2f}-{norms.max():.2f}")
        tensors |= {"gradient." + name: value for name, value in gradients.items()}
        write_safetensors(folder / (model.name + ".safetensors"), tensors)


if __name__ == "__main__":
    main()
