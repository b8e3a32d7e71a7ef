#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Colour halftones compared with those of others, at the same palette: the table of docs/halftoning.md.

usage: PYTHONPATH=build/python benchmarks/halftone/colour_quality.py FOLDER [PICTURE.png]
FOLDER: of photographs, any files that Pillow reads; each is cropped and scaled to 400x240. Beside them a ramp, two
screenshots of text and flat colours are made. PICTURE: where the first photograph goes, by the most telling ways.

All ways get the same image, whose black and white are those of the palette, and are told the same six colours. Columns:
- dpi: the mean CIEDE2000 of photograph and halftone after a filter like the eye's (S-CIELAB: Zhang, Wandell, 1997) at 40
  cm and so many dots per inch; ramp, text: the same of these at 150 dpi.
- anisotropy: how much the spectrum of the dots of flat colours varies around circles of one frequency, in dB: of their
  luminance, as framequality-train-halftone evaluates greys.
- speckle: how far flat colours are seen to vary in hue: the standard deviation of CIELAB's a and b at 150 dpi.
- changes: the share of pixels that change from frame to frame where noise of one grey level is new in each.
Then follows the CPU time of 800x480 pixels on one core, by turns. Ways that are not installed are named as missing.
Needs numpy, SciPy, Pillow, Chromium (for the screenshots) and the Python package.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter

import framequality as fq

SIZE = (400, 240)
COLOURS = ("1a0d23", "b9cacd", "cab800", "790900", "00458b", "285239")  # of spectra6
PALETTE = np.array([[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in COLOURS], np.uint8)
HERE = pathlib.Path(__file__).resolve().parent
RESOLUTIONS = (100, 150, 300)
FRAMES = 3
FLAT = 8  # colours
TURNS = 7
# Of what is evaluated of a flat colour, and what it keeps away from where diffusion begins.
EVALUATED, TOP, SIDE, SEGMENT = 576, 64, 32, 128

# --- Ways ------------------------------------------------------------------------------------------------------------


def ours(**options):
    custom = ",".join("#" + c for c in COLOURS)
    return lambda image: fq.halftone(image, palette=custom, absolute=True, **options)


def pillow(image):
    palette = Image.new("P", (1, 1))
    palette.putpalette(PALETTE.tobytes())
    return np.asarray(Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).convert("RGB"))


def image_magick(method):
    def way(image):
        height, width = image.shape[:2]
        ppm = b"P6\n%d 1\n255\n" % len(PALETTE) + PALETTE.tobytes()
        with tempfile.NamedTemporaryFile(suffix=".ppm") as colours:
            colours.write(ppm)
            colours.flush()
            command = [IMAGE_MAGICK, "-size", f"{width}x{height}", "-depth", "8", "rgb:-", "-dither", method, "-remap", colours.name, "rgb:-"]
            out = subprocess.run(command, input=image.tobytes(), stdout=subprocess.PIPE, check=True, timeout=60).stdout
        return np.frombuffer(out, np.uint8).reshape(image.shape)
    return way


def epaper_image_convert(method, linear=False):
    names = ("black", "white", "yellow", "red", "blue", "green")
    palette = json.dumps({n: dict(zip("rgb", map(int, c))) for n, c in zip(names, PALETTE)})

    def way(image):
        height, width = image.shape[:2]
        command = ["node", str(HERE / "epaper_image_convert.mjs"), str(width), str(height), method, palette, str(int(linear))]
        done = subprocess.run(command, input=image.tobytes(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=120)
        way.seconds = float(done.stderr.split()[-1]) / 1e3
        return np.frombuffer(done.stdout, np.uint8).reshape(image.shape)
    return way


def magick():
    for name in ("magick", "convert-im6.q16", "convert"):
        found = shutil.which(name)
        if found and b"ImageMagick 6" in (version := subprocess.run([found, "-version"], capture_output=True, check=False).stdout) or found and b"ImageMagick 7" in version:
            return found
    return None


IMAGE_MAGICK = magick()


def ways():
    return {
        "halftone, floyd-steinberg, linear": ours(linear=True),
        "halftone, floyd-steinberg, serpentine, linear": ours(linear=True, serpentine=True),
        "halftone, floyd-steinberg": ours(),
        "halftone, blue-noise, linear": ours(linear=True, method="blue-noise"),
        "halftone, blue-noise": ours(method="blue-noise"),
        "Pillow": pillow,
        "ImageMagick, FloydSteinberg": IMAGE_MAGICK and image_magick("FloydSteinberg"),
        "ImageMagick, Riemersma": IMAGE_MAGICK and image_magick("Riemersma"),
        "epaper-image-convert, rgb": shutil.which("node") and epaper_image_convert("rgb"),
        "epaper-image-convert, lab": shutil.which("node") and epaper_image_convert("lab"),
        "epaper-image-convert, rgb, linear": shutil.which("node") and epaper_image_convert("rgb", True),
        "epaper-image-convert, lab, linear": shutil.which("node") and epaper_image_convert("lab", True),
    }


# --- Images ----------------------------------------------------------------------------------------------------------


def photographs(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        try:
            image = Image.open(path).convert("RGB")
        except (OSError, ValueError):
            continue
        scale = max(SIZE[0] / image.width, SIZE[1] / image.height)
        image = image.resize((math.ceil(image.width * scale), math.ceil(image.height * scale)), Image.Resampling.LANCZOS)
        left, top = (image.width - SIZE[0]) // 2, (image.height - SIZE[1]) // 2
        yield path.stem, np.asarray(image.crop((left, top, left + SIZE[0], top + SIZE[1])))


def ramp():
    """Hues from left to right, from black to white downwards."""
    x, y = np.meshgrid(np.linspace(0, 6, SIZE[0]), np.linspace(0, 2, SIZE[1]))
    hue = np.clip(np.stack([np.abs(x - 3) - 1, 2 - np.abs(x - 2), 2 - np.abs(x - 4)], -1), 0, 1)
    light = np.where(y[..., None] < 1, hue * y[..., None], hue + (1 - hue) * (y[..., None] - 1))
    return np.rint(255 * light).astype(np.uint8)


PAGES = {
    "page": """<body style="margin:8px;font:13px 'DejaVu Sans',sans-serif"><h3 style="margin:4px 0;color:#003399">Departures</h3>
<p>The quick brown fox jumps over the lazy dog. <a href="x">All departures</a><br><small>Platforms may change at short
notice; listen to the announcements.</small><table style="font-size:12px;border-collapse:collapse" border=1>
<tr style="background:#dde"><th>time<th>to<th>platform<tr><td>08:14<td>Basel SBB<td>7<tr><td style="color:#c00">08:31 +12
<td>Milano Centrale<td>4<tr><td>08:40<td>M&uuml;nchen Hbf<td>12</table>""",
    "terminal": """<body style="margin:0;background:#1e1e1e;color:#ddd"><pre style="margin:6px;font:12px 'DejaVu Sans Mono',monospace">
<b style="color:#4e4">user@host</b>:<b style="color:#69f">~/photos</b>$ ls -l
-rw-r--r-- 1 user user  2481733 Mai  3 panel.png
-rw-r--r-- 1 user user   192000 Mai  3 <span style="color:#f66">panel.bin</span>
<b style="color:#4e4">user@host</b>:<b style="color:#69f">~/photos</b>$ git diff
<span style="color:#f66">-  method = "floyd-steinberg"</span>
<span style="color:#6d6">+  method = "blue-noise"</span>
<span style="color:#fd6">warning: 2 files are not tracked</span>
0123456789 {}[]()&lt;&gt; |/\\ ~!@#%^&amp;*</pre>""",
}


def screenshots():
    """Text as a browser shows it, smoothed, dark on light and light on dark."""
    with tempfile.TemporaryDirectory() as folder:
        for name, html in PAGES.items():
            page, shot = pathlib.Path(folder, "page.html"), pathlib.Path(folder, "shot.png")
            page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{html}")
            subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={shot}", page.as_uri()],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
            yield name, np.asarray(Image.open(shot).convert("RGB"))


def flat_colours():
    """Mixtures of the palette's light."""
    random = np.random.default_rng(41)
    light = light_of(PALETTE)
    for _ in range(FLAT):
        mixed = random.dirichlet(np.full(len(PALETTE), 0.6)) @ light
        code = np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
        yield np.broadcast_to(np.rint(255 * code).astype(np.uint8), (EVALUATED + TOP, EVALUATED + 2 * SIDE, 3)).copy()


def in_range_of_palette(image):
    black, white = PALETTE[0].astype(float), PALETTE[1].astype(float)
    return np.rint(black + image / 255 * (white - black)).astype(np.uint8)


# --- Measures --------------------------------------------------------------------------------------------------------

TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
TO_OPPONENT = np.array([[0.2787, 0.7218, -0.1066], [-0.4488, 0.2898, 0.0772], [0.0860, -0.5900, 0.5011]])  # of XYZ
# Weights and widths, in degrees of visual angle, of the Gaussians of each opponent channel.
EYE = (((0.921, 0.0283), (0.105, 0.133), (-0.108, 4.336)), ((0.531, 0.0392), (0.330, 0.494)), ((0.488, 0.0536), (0.371, 0.386)))


def light_of(image):
    code = (image / 255).astype(np.float32)
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


def blur(channel, spread):
    """By exp(-(x / spread)^2). The widest one is wider than the images: of them only the mean is left."""
    if spread > min(channel.shape) / 3:
        return channel.mean()
    return gaussian_filter(channel, spread / math.sqrt(2), mode="nearest", truncate=3)


def seen(image, dpi):
    """CIELAB as the eye sees it at 40 cm."""
    samples = dpi * 40 / 2.54 * math.tan(math.radians(1))  # a degree
    opponent = light_of(image) @ TO_XYZ.T @ TO_OPPONENT.T
    blurred = np.empty_like(opponent)
    for c, gaussians in enumerate(EYE):
        total = sum(weight for weight, _ in gaussians)
        blurred[..., c] = sum(weight / total * blur(opponent[..., c], spread * samples) for weight, spread in gaussians)
    xyz = blurred @ np.linalg.inv(TO_OPPONENT).T / (TO_XYZ @ np.ones(3))
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def ciede2000(one, two):
    """Sharma, Wu, Dalal, 2005."""
    c1, c2 = (np.hypot(lab[..., 1], lab[..., 2]) for lab in (one, two))
    g = 0.5 * (1 - np.sqrt(((c1 + c2) / 2) ** 7 / (((c1 + c2) / 2) ** 7 + 25.0**7)))
    a1, a2 = (1 + g) * one[..., 1], (1 + g) * two[..., 1]
    c1, c2 = np.hypot(a1, one[..., 2]), np.hypot(a2, two[..., 2])
    h1, h2 = (np.degrees(np.arctan2(lab[..., 2], a)) % 360 for lab, a in ((one, a1), (two, a2)))
    dl, dc, dh = two[..., 0] - one[..., 0], c2 - c1, (h2 - h1 + 180) % 360 - 180
    dh = np.where(c1 * c2 == 0, 0, dh)
    dh_chord = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh / 2))
    l, c = (one[..., 0] + two[..., 0]) / 2, (c1 + c2) / 2
    h = np.where(c1 * c2 == 0, h1 + h2, h1 + dh / 2) % 360
    t = (1 - 0.17 * np.cos(np.radians(h - 30)) + 0.24 * np.cos(np.radians(2 * h)) + 0.32 * np.cos(np.radians(3 * h + 6))
         - 0.20 * np.cos(np.radians(4 * h - 63)))
    sl, sc, sh = 1 + 0.015 * (l - 50) ** 2 / np.sqrt(20 + (l - 50) ** 2), 1 + 0.045 * c, 1 + 0.015 * c * t
    rt = -np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2)))) * 2 * np.sqrt(c**7 / (c**7 + 25.0**7))
    return np.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh_chord / sh) ** 2 + rt * dc / sc * dh_chord / sh)


def evaluated(image):
    return image[TOP:TOP + EVALUATED, SIDE:SIDE + EVALUATED]


def anisotropy(halftone):
    """Of a flat colour: the mean over rings of 10 log10(variance / squared mean) of the power (Ulichney, 1987)."""
    luminance = evaluated(light_of(halftone)) @ TO_XYZ[1]
    luminance = luminance - luminance.mean()
    window = np.outer(np.hanning(SEGMENT + 1)[:-1], np.hanning(SEGMENT + 1)[:-1])
    corners = range(0, EVALUATED - SEGMENT + 1, SEGMENT // 2)
    power = sum(np.abs(np.fft.fft2(luminance[y:y + SEGMENT, x:x + SEGMENT] * window)) ** 2 for y in corners for x in corners)
    frequency = np.fft.fftfreq(SEGMENT, 1 / SEGMENT)
    ring = np.rint(np.hypot(frequency[:, None], frequency)).astype(int)
    rings = [power[ring == r] for r in range(2, SEGMENT // 2 + 1)]
    return np.mean([10 * np.log10(r.var(ddof=1) / r.mean() ** 2) for r in rings if r.mean() > 0])


def speckle(halftone):
    """Of a flat colour, as the eye sees it at 150 dpi."""
    ab = evaluated(seen(halftone, 150))[..., 1:]
    return np.sqrt(((ab - ab.mean((0, 1))) ** 2).sum(-1).mean())


def changes(way, image):
    random = np.random.default_rng(1)
    noisy = [way(np.clip(np.rint(image + random.standard_normal(image.shape)), 0, 255).astype(np.uint8)) for _ in range(FRAMES)]
    return 100 * np.mean([np.any(a != b, axis=-1).mean() for a, b in zip(noisy, noisy[1:])])


def sheet(pictures, path):
    """Pictures with their names, two in a row."""
    title, gap = 14, 6
    out = Image.new("RGB", (2 * SIZE[0] + gap, -(-len(pictures) // 2) * (SIZE[1] + title + gap) - gap), (255, 255, 255))
    draw = ImageDraw.Draw(out)
    for i, (name, picture) in enumerate(pictures.items()):
        x, y = i % 2 * (SIZE[0] + gap), i // 2 * (SIZE[1] + title + gap)
        draw.text((x, y), name, fill=(0, 0, 0))
        out.paste(Image.fromarray(picture), (x, y + title))
    out.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def cpu_seconds(way, image):
    begin = time.process_time()
    way(image)
    return time.process_time() - begin


def compare_speed(image):
    """Prints the CPU time of halftones of 800x480 pixels on one core, and what the package takes, by turns."""
    image = np.asarray(Image.fromarray(image).resize((800, 480), Image.Resampling.BICUBIC))
    mine = {"halftone, floyd-steinberg, linear": ours(linear=True, threads=1),
            "halftone, blue-noise, linear": ours(linear=True, threads=1, method="blue-noise")}
    theirs = {f"epaper-image-convert, {name}": epaper_image_convert(method, linear)
              for name, method, linear in (("rgb", "rgb", False), ("rgb, linear", "rgb", True), ("lab, linear", "lab", True))}
    taken = {name: [] for name in (*mine, *theirs)}
    try:
        for way in mine.values():
            way(image)  # makes its tables
        for _ in range(TURNS):
            for name, way in mine.items():
                taken[name].append(cpu_seconds(way, image))
            for name, way in theirs.items():
                way(image)
                taken[name].append(way.seconds)
    except (OSError, subprocess.CalledProcessError):
        print("epaper-image-convert is missing", flush=True)
    print(f"\n| 800x480, one core | CPU time, ms | of {next(iter(mine))} |\n|---|---|---|")
    unit = np.median(taken[next(iter(mine))])
    for name, times in taken.items():
        if times:
            print(f"| {name} | {1e3 * np.median(times):.2f} | {np.median(times) / unit:.1f} |")


def main():
    photos = [(name, in_range_of_palette(image)) for name, image in photographs(sys.argv[1])]
    images = photos + [(name, in_range_of_palette(image)) for name, image in (("ramp", ramp()), *screenshots())]
    flats = list(flat_colours())
    count = len(photos)
    print(f"{count} photographs: {', '.join(name for name, _ in photos)}; a ramp; {len(PAGES)} screenshots of text", flush=True)
    columns = [*(f"{dpi} dpi" for dpi in RESOLUTIONS), "ramp", "text", "anisotropy, dB", "speckle", "changes"]
    print("| way | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    targets = {dpi: [seen(image, dpi) for _, image in images] for dpi in RESOLUTIONS}
    made = {}
    for name, way in ways().items():
        try:
            halftones = [way(image) for _, image in images] if way else None
        except (OSError, subprocess.CalledProcessError):
            halftones = None
        if halftones is None:
            print(f"| {name} | missing |")
            continue
        of = {dpi: [ciede2000(seen(h, dpi), t).mean() for h, t in zip(halftones, targets[dpi])] for dpi in RESOLUTIONS}
        dots = [way(flat) for flat in flats]
        numbers = [*(np.mean(of[dpi][:count]) for dpi in RESOLUTIONS), of[150][count], np.mean(of[150][count + 1:]),
                   np.mean([anisotropy(d) for d in dots]), np.mean([speckle(d) for d in dots])]
        print(f"| {name} | " + " | ".join(f"{n:.2f}" for n in numbers) + f" | {changes(way, photos[0][1]):.2f} % |", flush=True)
        made[name] = halftones
    compare_speed(photos[0][1])
    if len(sys.argv) > 2:
        shown = ("halftone, floyd-steinberg, linear", "halftone, blue-noise, linear", "Pillow")
        sheet({"image": images[0][1], **{name: made[name][0] for name in shown if name in made}}, sys.argv[2])


if __name__ == "__main__":
    main()
