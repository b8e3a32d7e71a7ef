#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores a batch of PyTorch tensors in place, in GPU memory if there is a GPU."""
import framequality as fq
import torch

device = "cuda" if torch.cuda.is_available() and any(d.usable and d.name != "cpu" for d in fq.devices()) else "cpu"
batch = torch.randint(0, 256, (4, 3, 480, 640), dtype=torch.uint8, device=device)
batch[1] = batch[1] // 4 + 96  # less contrast
for score in fq.scores(batch, channel_axis=0, metric="laplacian-variance"):
    print(f"{score:.2f}")
