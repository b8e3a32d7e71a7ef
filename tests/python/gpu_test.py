# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors in GPU memory: scores equal those of the same pixels on the CPU, for PyTorch, CuPy and JAX.

usage: gpu_test.py [CASES]. Exits 77 (skipped) without a GPU that framequality can use, or without PyTorch; fails instead
with REQUIRE_GPU=1.
"""
import os
import random
import statistics
import sys
import threading
import time

import framequality as fq

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 300


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(1 if os.environ.get("REQUIRE_GPU") == "1" else 77)


if not any(d.usable and d.name.startswith("cuda") for d in fq.devices()):
    skip("; ".join(d.reason for d in fq.devices() if d.reason) or "no GPU")
try:
    import numpy
    import torch
except ImportError as error:
    skip(str(error))


def random_options(dice):
    options = {"metric": dice.choice(list(fq.METRICS)), "prefilter": dice.choice(["none", "binomial3", "binomial5"]),
               "downscale": dice.choice([0, 1, 1, 2, 4]), "normalize": dice.choice(["none", "mean"]),
               "noise_correction": dice.random() < 0.3}
    if dice.random() < 0.3:
        options["roi"] = (dice.randint(0, 20), dice.randint(0, 20), dice.randint(1, 100), dice.randint(1, 100))
    return options


def check_torch(seed):
    dice, rng = random.Random(seed), numpy.random.default_rng(seed)
    height, width = dice.choice([(dice.randint(2, 60), dice.randint(2, 60)), (480, 640), (271, 333)])
    shape = dice.choice([(height, width), (height, width, 3), (height, width, 4), (3, height, width)])
    dtype = dice.choice([numpy.uint8, numpy.uint8, numpy.uint16])
    array = rng.integers(0, numpy.iinfo(dtype).max, shape, dtype, endpoint=True)
    options = random_options(dice)
    if shape[0] == 3 and len(shape) == 3:
        options["channel_axis"] = 0
    tensor = torch.from_numpy(array.view(numpy.int16) if dtype == numpy.uint16 else array).cuda()
    if dtype == numpy.uint16:
        tensor = tensor.view(torch.uint16)
    if dice.random() < 0.3 and len(shape) == 2:  # not contiguous
        tensor, array = tensor[::2, :width // 2], array[::2, :width // 2]
    label = f"seed {seed} {array.shape} {array.dtype} {options}"
    on_gpu, on_cpu = fq.measure(tensor, **options), fq.measure(array, **options)
    assert on_gpu.device.startswith("cuda"), (label, on_gpu.device)
    for name in ("score", "noise", "mean", "clipped_black", "clipped_white", "blur", "anisotropy", "blur_angle", "pixels"):
        a, b = getattr(on_gpu, name), getattr(on_cpu, name)
        assert a == b or (a != a and b != b), (label, name, a, b)
    assert fq.score(tensor, **options) == fq.score(array, device="cuda", **options) == fq.score(array, **options), label


def check_masks():
    rng = numpy.random.default_rng(5)
    array = rng.integers(0, 256, (200, 300), numpy.uint8)
    y, x = numpy.mgrid[:200, :300]
    for mask in ((y - 90) ** 2 + (x - 140) ** 2 < 70 ** 2, rng.random((200, 300)) < 0.5, numpy.zeros((200, 300), bool)):
        for metric in fq.METRICS:
            assert fq.score(torch.from_numpy(array).cuda(), mask=mask, metric=metric) == fq.score(array, mask=mask, metric=metric), metric


def check_streams():
    """What another stream is still writing is waited for."""
    array = numpy.random.default_rng(1).integers(0, 256, (1080, 1920), numpy.uint8)
    source, wanted = torch.from_numpy(array).cuda(), fq.score(array)
    target = torch.empty_like(source)
    stream = torch.cuda.Stream()
    for _ in range(50):
        target.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(2_000_000)
            target.copy_(source)
            assert fq.score(target) == wanted
    try:
        import cupy
    except ImportError:
        print("left out: CuPy is not installed")
        return
    array_of_cupy = cupy.asarray(array)
    side = cupy.cuda.Stream(non_blocking=True)
    for _ in range(20):
        with side:
            torch.cuda._sleep(1)
            moved = array_of_cupy + cupy.uint8(0)
            assert fq.score(moved) == wanted


def check_others():
    array = numpy.random.default_rng(3).integers(0, 256, (120, 160, 3), numpy.uint8)
    wanted = fq.score(array)
    try:
        import cupy

        assert fq.score(cupy.asarray(array)) == wanted
        assert fq.measure(cupy.asarray(array)).device == "cuda:0"
        print("CuPy", cupy.__version__)
    except ImportError:
        print("left out: CuPy is not installed")
    try:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax

        on = jax.device_put(array)
        assert fq.score(on) == wanted
        print("JAX", jax.__version__, on.devices())
    except ImportError:
        print("left out: JAX is not installed")
    for wrong in (torch.zeros(10, 10, device="cuda"), torch.zeros(10, 10, dtype=torch.int32, device="cuda")):
        try:
            raise AssertionError(fq.score(wrong))
        except TypeError as error:
            print(error)


def check_context():
    before = torch.cuda.current_device()
    fq.score(torch.zeros(64, 64, dtype=torch.uint8, device="cuda"))
    assert torch.cuda.current_device() == before
    last = torch.cuda.device_count() - 1
    fq.score(torch.zeros(64, 64, dtype=torch.uint8, device=f"cuda:{last}"))
    assert torch.cuda.current_device() == before
    torch.zeros(8, device="cuda").add_(1).sum().item()  # its context still works


def check_devices():
    """Every tensor is measured on its own GPU, whichever one is current, and that one stays current."""
    array = numpy.random.default_rng(1).integers(0, 256, (480, 640), numpy.uint8)
    wanted, count = fq.score(array), torch.cuda.device_count()
    if count == 1:
        print("left out: there is one GPU only")
        return
    before = torch.cuda.current_device()
    for current in range(count):
        torch.cuda.set_device(current)
        for where in [*range(count)] * 2:
            tensor = torch.from_numpy(array).to(f"cuda:{where}")
            measured = fq.measure(tensor)
            assert (measured.score, measured.device) == (wanted, f"cuda:{where}"), measured
            assert fq.score(array, device=f"cuda:{where}") == wanted
            with torch.cuda.stream(torch.cuda.Stream(device=where)):
                assert fq.score(tensor.clone()) == wanted
            assert torch.cuda.current_device() == current
            assert torch.zeros(8, device="cuda").add_(1).sum().item() == 8
    both = [torch.from_numpy(array).to(f"cuda:{i % count}") for i in range(16)]
    assert list(fq.scores(both)) == [wanted] * 16
    torch.cuda.set_device(before)


def check_threads():
    arrays = [numpy.random.default_rng(i).integers(0, 256, (200 + i, 300), numpy.uint8) for i in range(16)]
    wanted = [fq.score(a) for a in arrays]
    failures = []

    def work(number):
        tensor = torch.from_numpy(arrays[number]).cuda()
        for _ in range(200):
            if fq.score(tensor) != wanted[number]:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    batch = torch.from_numpy(numpy.stack([a[:200] for a in arrays])).cuda()
    assert list(fq.scores(batch)) == [fq.score(a[:200]) for a in arrays]


def times():
    array = numpy.random.default_rng(1).integers(0, 256, (1080, 1920), numpy.uint8)
    tensor = torch.from_numpy(array).cuda()
    torch.cuda.synchronize()
    for name, image, options in (("tensor 1080p", tensor, {}), ("array 1080p on the GPU", array, {"device": "cuda"}),
                                 ("array 1080p on the CPU", array, {})):
        taken = []
        for _ in range(400):
            begin = time.perf_counter()
            fq.score(image, metric="laplacian-variance", **options)
            taken.append(time.perf_counter() - begin)
        print(f"{name}: median {statistics.median(taken[50:]) * 1e6:.1f} us")


print([tuple(d) for d in fq.devices()])
for seed in range(CASES):
    check_torch(seed)
print(f"{CASES} random cases are equal")
for check in (check_masks, check_streams, check_others, check_context, check_devices, check_threads, times):
    check()
    print(check.__name__, "ok")
