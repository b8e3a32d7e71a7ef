#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Error and cost of sharpnessmeter's `displacement`, compared with block matching and OpenCV's phaseCorrelate.

Pairs of views are cut out of real frames at known places: shifted, turned, sheared as by a rolling shutter, partly
covered by objects that move on their own, blurred, noisy. Block matching compares blocks of 16x16 pixels by normalised
correlation (OpenCV's matchTemplate) with all places within a quarter of the diagonal, on the same small image as
`displacement`; the translation on which most blocks agree wins. Prints a Markdown table: median error as a share of the
diagonal and, after the slash, the part of pairs that are wrong by more than 2% of the diagonal.
"""
import argparse
import pathlib
import statistics
import tempfile
import time

import cv2
import gi
import numpy as np

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

WIDTH, HEIGHT = 320, 180
DIAGONAL = float(np.hypot(WIDTH, HEIGHT))
SMALL = 128, 72
BLOCK, REACH = 16, 37  # pixels of the small image; a quarter of its diagonal
WRONG = 0.02
CASES = {  # shift in diagonals, degrees, shear in widths, covered part, blur in pixels, noise in grey levels
    "shift by up to 3%": {"shift": 0.03},
    "shift by up to 12%": {"shift": 0.12},
    "shift by up to 20%": {"shift": 0.2},
    "turn by 1 degree": {"turn": 1},
    "turn by 3 degrees": {"turn": 3},
    "turn by 5 degrees": {"turn": 5},
    "rolling shutter, 5% of the width": {"shear": 0.05},
    "objects on 20%": {"covered": 0.2},
    "objects on 40%": {"covered": 0.4},
    "second view blurred by 3 pixels": {"blur": 3},
    "noise of 10 grey levels": {"noise": 10},
    "turn by 2, objects on 20%, blur, noise": {"turn": 2, "covered": 0.2, "blur": 2, "noise": 5},
}


def frames_of(clip, count):
    """Evenly spaced frames, as wide as 640 pixels so that views have room to move."""
    video = cv2.VideoCapture(str(clip))
    frames = []
    while (frame := video.read())[0]:
        frames.append(cv2.cvtColor(frame[1], cv2.COLOR_BGR2GRAY))
    chosen = [frames[(2 * i + 1) * len(frames) // (2 * count)] for i in range(count)]
    return [cv2.resize(f, (640, round(640 * f.shape[0] / f.shape[1])), interpolation=cv2.INTER_CUBIC) for f in chosen]


def view(frame, x=0.0, y=0.0, turn=0.0, shear=0.0):
    """Cut out of the middle, x and y further to the right and down."""
    angle = np.deg2rad(turn)
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.array([[c, -s], [s, c]]) @ np.array([[1, shear], [0, 1]])
    middle = np.array([(frame.shape[1] - 1) / 2 + x, (frame.shape[0] - 1) / 2 + y])
    offset = middle - matrix @ np.array([(WIDTH - 1) / 2, (HEIGHT - 1) / 2])
    return cv2.warpAffine(frame, np.column_stack([matrix, offset]), (WIDTH, HEIGHT),
                          flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT).astype(float)


def cover(first, second, other, part, random):
    """Covers part of both views with two objects that move by up to 10% of the diagonal on their own."""
    for _ in range(2):
        w, h = round(WIDTH * (part / 2) ** 0.5), round(HEIGHT * (part / 2) ** 0.5)
        left, top = (int(random.integers(0, side)) for side in (WIDTH - w, HEIGHT - h))
        dx, dy = (int(step) for step in random.uniform(-0.07, 0.07, 2) * DIAGONAL)
        patch = view(other)[top:top + h, left:left + w]
        first[top:top + h, left:left + w] = patch
        x, y = np.clip(left + dx, 0, WIDTH - w), np.clip(top + dy, 0, HEIGHT - h)
        second[y:y + h, x:x + w] = patch


def pair(frame, other, random, shift=0.05, turn=0, shear=0.0, covered=0.0, blur=0, noise=0):
    """Two views, and how far the content moves from the first to the second, in pixels."""
    direction, length = random.uniform(0, 2 * np.pi), random.uniform(0, shift) * DIAGONAL
    x, y = length * np.cos(direction), length * np.sin(direction)
    first, second = view(frame), view(frame, x, y, turn * random.choice([-1, 1]), shear * WIDTH / HEIGHT)
    if covered:
        cover(first, second, other, covered, random)
    if blur:
        second = cv2.GaussianBlur(second, (0, 0), blur)
    images = [np.clip(v + noise * random.normal(size=v.shape), 0, 255).astype(np.uint8) for v in (first, second)]
    return images, (-x, -y)


def meter(images, folder, displacement=True):
    """sharpnessmeter's displacements of a sequence, and the seconds of processor time of the whole pipeline."""
    raw = folder / "frames.raw"
    raw.write_bytes(b"".join(image.tobytes() for image in images))
    pipeline = Gst.parse_launch(
        f"filesrc location={raw} ! rawvideoparse format=gray8 width={WIDTH} height={HEIGHT} framerate=25/1 ! "
        f"sharpnessmeter device=cpu displacement={displacement} ! fakesink sync=false")
    bus, found = pipeline.get_bus(), []
    begin = time.process_time()
    pipeline.set_state(Gst.State.PLAYING)
    wanted = Gst.MessageType.ELEMENT | Gst.MessageType.ERROR | Gst.MessageType.EOS
    while (message := bus.timed_pop_filtered(60 * Gst.SECOND, wanted)).type == Gst.MessageType.ELEMENT:
        fields = message.get_structure()
        if displacement and fields.get_name() == "sharpnessmeter":
            numbers = fields.to_string().split("displacement=(double)<")[1].split(">")[0].split(",")
            found.append(tuple(float(number.replace("(double)", "")) * DIAGONAL for number in numbers))
    taken = time.process_time() - begin
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        raise RuntimeError(message.parse_error())
    return found, taken


def small(image):
    return cv2.resize(image, SMALL, interpolation=cv2.INTER_AREA).astype(np.float32)


def matched(images):
    """The translation on which most blocks agree, as the mean of theirs."""
    first, second = (small(image) for image in images)
    padded = cv2.copyMakeBorder(second, REACH, REACH, REACH, REACH, cv2.BORDER_CONSTANT, value=float(second.mean()))
    found = []
    for top in range(0, SMALL[1] - BLOCK + 1, BLOCK // 2):
        for left in range(0, SMALL[0] - BLOCK + 1, BLOCK // 2):
            block = first[top:top + BLOCK, left:left + BLOCK]
            if block.var() < 4:
                continue
            window = padded[top:top + BLOCK + 2 * REACH, left:left + BLOCK + 2 * REACH]
            surface = cv2.matchTemplate(window, block, cv2.TM_CCOEFF_NORMED)
            _, best, _, (x, y) = cv2.minMaxLoc(surface)
            if best < 0.6:
                continue
            found.append((x + vertex(surface[y, :], x) - REACH, y + vertex(surface[:, x], y) - REACH))
    if not found:
        return 0.0, 0.0
    found = np.array(found)
    near = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1)) < 1.5
    moved = found[near[near.sum(axis=1).argmax()]].mean(axis=0)
    return moved[0] * WIDTH / SMALL[0], moved[1] * HEIGHT / SMALL[1]


def vertex(values, at):
    """Of the parabola through a maximum and its neighbours."""
    if not 0 < at < len(values) - 1:
        return 0.0
    before, here, after = (float(value) for value in values[at - 1:at + 2])
    bend = before - 2 * here + after
    return (before - after) / (2 * bend) if bend < 0 else 0.0


def correlated(images, window=cv2.createHanningWindow(SMALL, cv2.CV_32F)):
    (x, y), _ = cv2.phaseCorrelate(small(images[0]), small(images[1]), window)
    return x * WIDTH / SMALL[0], y * HEIGHT / SMALL[1]


def cell(errors):
    return f"{100 * statistics.median(errors):.2f}% / {100 * np.mean(np.array(errors) > WRONG):.0f}%"


def costs(images, folder):
    """Milliseconds of processor time per frame: displacement and block matching, by turns, medians."""
    ours, blocks, phase = [], [], []
    for _ in range(5):
        ours.append((meter(images, folder)[1] - meter(images, folder, displacement=False)[1]) / len(images))
        for times, method in ((blocks, matched), (phase, correlated)):
            begin = time.process_time()
            for first, second in zip(images[:40], images[1:41]):
                method((first, second))
            times.append((time.process_time() - begin) / 40)
    return [1000 * statistics.median(times) for times in (ours, blocks, phase)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=pathlib.Path, nargs="+", help="at least two videos")
    parser.add_argument("--frames", type=int, default=8, help="of each clip (default: %(default)s)")
    args = parser.parse_args()
    Gst.init(None)
    cv2.setNumThreads(1)
    random = np.random.default_rng(1)
    clips = [frames_of(clip, args.frames) for clip in args.clips]
    print("| second view | displacement | block matching | phaseCorrelate |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="fq-motion-") as folder:
        folder = pathlib.Path(folder)
        for name, case in CASES.items():
            errors = ([], [], [])
            for i, clip in enumerate(clips):
                for k, frame in enumerate(clip):
                    images, want = pair(frame, clips[(i + 1) % len(clips)][k], random, **case)
                    for list_, found in zip(errors, (meter(images, folder)[0][1], matched(images), correlated(images))):
                        list_.append(float(np.hypot(found[0] - want[0], found[1] - want[1])) / DIAGONAL)
            print(f"| {name} | " + " | ".join(cell(list_) for list_ in errors) + " |", flush=True)
        pan = [view(clips[0][0], x=3 * np.sin(i / 5) * 10).astype(np.uint8) for i in range(200)]
        ours, blocks, phase = costs(pan, folder)
        print(f"| ms of processor time per frame | {ours:.2f} | {blocks:.2f} | {phase:.2f} |")


if __name__ == "__main__":
    main()
