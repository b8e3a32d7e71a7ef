# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the sharpness of images, on the CPU or an NVIDIA GPU, with bit-identical scores.

    import framequality as fq

    fq.score(frame)                                        # higher is sharper; a numpy array, tensor, PIL image ...
    fq.score(gray, metric="laplacian-variance")            # uint8: equals cv2.Laplacian(gray, cv2.CV_64F).var()
    fq.measure(frame, zones=(4, 3)).zones                  # also noise, exposure and kind of blur
    fq.best(map(fq.read, paths)).index                     # the sharpest of many images

Images are arrays of shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4), or (C, H, W) with channel_axis=0. Integers are uint8
or uint16; floats are from 0 to 1, or in data_range. help(framequality.score) explains all options.
"""
import os
import sys
from collections import namedtuple

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError("framequality does not support free-threaded builds of Python: use the build with the GIL, "
                      "python%d.%d instead of python%d.%dt" % (sys.version_info[:2] * 2))

from . import _core
from ._core import Error, score

__version__ = _core.version
__all__ = ["score", "measure", "scores", "rank", "best", "Autofocus", "quality", "denoise", "halftone", "read", "devices",
           "Measurement", "Best", "Device", "METRICS", "ACROSS_SCENES", "Error"]

#: All metrics: name -> one line on its use, strengths and limits.
METRICS = _core.metrics()

#: Options for comparing images of different scenes, sizes and exposures. rank() and best() use them by default. Such
#: scores cannot find the peak of a focus sweep: for that, pass metric="tenengrad", downscale=1, noise_correction=False.
ACROSS_SCENES = {"metric": "directional-frequency", "prefilter": "binomial5", "noise_correction": True, "downscale": 0}


class Measurement(namedtuple("Measurement", (
        "score", "zones", "noise", "mean", "clipped_black", "clipped_white", "blur", "anisotropy", "blur_angle",
        "gradient_energy", "pixels", "device", "gradient_noise", "light_power"))):
    """Result of measure(). float(measurement) is its score. Grey levels are those of 8 bits; NaN: not measured.

    score            in the unit of the metric; higher is sharper
    zones            scores of the zones: array of shape (rows, columns), or nested lists without numpy
    noise            standard deviation of the noise, grey levels
    mean             mean luma, grey levels
    clipped_black, clipped_white    shares of the pixels, 0 to 1; clipped_white of float images is measured only with limited
    blur             "flat" (no detail above the noise), "sharp", "defocus", "motion", or None if it was not measured
    anisotropy       0: equally sharp in all directions, to 1
    blur_angle       direction of the strongest blur, degrees counterclockwise from the x axis, 0 <= angle < 180
    gradient_energy  for metrics that also measure it, with the noise subtracted; grey levels squared
    pixels           number of pixels measured, after downscale
    device           that measured the image, such as "cpu" or "cuda:0"
    gradient_noise   the noise subtracted from gradient_energy
    light_power      the score grows with this power of the light; 0: independent of exposure
    """
    __slots__ = ()

    def __float__(self):
        return self.score


#: One of the images that best() was given.
Best = namedtuple("Best", ("index", "score", "image"))

#: A device of this machine; reason says why it is not usable, and what to do.
Device = namedtuple("Device", ("name", "title", "usable", "reason"))

_numpy_module = ()  # not looked for yet


def _numpy():
    """numpy, or None if it is not installed."""
    global _numpy_module
    if _numpy_module == ():
        try:
            import numpy
            _numpy_module = numpy
        except ImportError:
            _numpy_module = None
    return _numpy_module


def _array(memory, shape, code="B", is_big_endian=False):
    """A bytearray as an array of numpy or, without it, as a memoryview. code: type of the struct module."""
    numpy = _numpy()
    if numpy:
        return numpy.frombuffer(memory, numpy.dtype((">" if is_big_endian else "=") + code)).reshape(shape)
    if is_big_endian:
        size = memoryview(b"").cast(code).itemsize
        native = bytearray(len(memory))
        for i in range(size):
            native[i::size] = memory[size - 1 - i::size]
        memory = native
    return memoryview(memory).cast(code, shape)


def measure(image, **options):
    """Return a Measurement of an image: its score, the scores of zones, noise, exposure and kind of blur.

    image: as for score().
    zones: (columns, rows), each 1 to 64: also score each zone of this grid; default (1, 1).
    options: as for score().

    Raises what score() raises.
    """
    score, zones, *rest = _core.measure(image, **options)
    numpy = _numpy()
    return Measurement(score, numpy.array(zones) if numpy else zones, *rest)


def _chunks(images, threads, every=None):
    """Parts of a sequence, array or iterator of images, such that measuring one uses all cores and little memory.
    every: results are wanted for each group of this size: parts are few whole groups, as far as memory allows."""
    cores = threads or os.cpu_count() or 1
    most, most_bytes = 1024, (256 + 16 * cores) << 20
    if every:
        most = max(1, max(16, 8 * cores) // every) * every
    shape = getattr(images, "shape", None)
    if isinstance(shape, tuple):  # an array or tensor
        if len(shape) < 3 or (len(shape) == 3 and shape[-1] in (3, 4)):
            raise ValueError(f"a batch has the shape (images, height, width) or (images, height, width, channels), not "
                             f"{tuple(shape)}: use score() for one image")
        if isinstance(images, memoryview):  # which cannot be sliced
            yield images
            return
        step = max(1, min(most, most_bytes * shape[0] // max(1, getattr(images, "nbytes", 1))))
        for i in range(0, shape[0], step):
            yield images[i:i + step]
        return
    if isinstance(images, (str, bytes, bytearray)):
        raise TypeError("images are arrays, not a file name or bytes: use map(framequality.read, paths)")
    chunk, size = [], 0
    for image in images:
        chunk.append(image)
        size += getattr(image, "nbytes", 8 << 20)
        if len(chunk) == most or size >= most_bytes:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _scored(images, threads, options, every=None):
    """Yields (index, score, image) of all images."""
    index = 0
    for chunk in _chunks(images, threads, every):
        for one, image in zip(_core.scores(chunk, index, threads=threads, **options), chunk):
            yield index, one, image
            index += 1


def scores(images, *, threads=0, **options):
    """Return the scores of many images: a float64 array, or a list of float if numpy is not installed.

    images: any iterable of images, or an array or tensor with the images along its first axis. An iterator is read in parts
      of at most 1024 images, or 256 MiB plus 16 MiB per CPU core; it must yield new memory for each image.
    threads: CPU threads; 0: as many as there are cores. Images in GPU memory are measured one after the other.
    options: as for score().

    Raises what score() raises; the message begins with the index of the image.
    """
    all_scores, index = [], 0
    for chunk in _chunks(images, threads):
        all_scores += _core.scores(chunk, index, threads=threads, **options)
        index = len(all_scores)
    if not all_scores:
        _core.scores([], 0, threads=threads, **options)  # checks the options
    numpy = _numpy()
    return numpy.array(all_scores, numpy.float64) if numpy else all_scores


def _across_scenes(options):
    """ACROSS_SCENES with a caller's options in place of its own. A mask has to have one scale."""
    defaults = ACROSS_SCENES if options.get("mask") is None else {**ACROSS_SCENES, "downscale": 1}
    return {**defaults, **options}


def rank(images, *, threads=0, **options):
    """Return [(index, score), ...] of all images, sharpest first.

    images, threads: as for scores(). The images may show different scenes.
    options: as for score(). Those that are not given have the values of ACROSS_SCENES, also if metric is given; with a
      mask, downscale=1.
    """
    scored = _scored(images, threads, _across_scenes(options))
    return sorted(((index, one) for index, one, _ in scored), key=lambda pair: -pair[1])


def best(images, *, count=None, every=None, threads=0, **options):
    """Return the sharpest image: a Best, which has index, score and image.

    images, threads: as for scores(). Passes over them once, and keeps few of them in memory.
    count: return a list of this many instead, sharpest first.
    every: return an iterator instead: the sharpest of each `every` consecutive images.
    options: as for rank().

    Raises ValueError if there are no images, and what score() raises. Of equally sharp images, the first is the best.
    """
    for name, value in (("count", count), ("every", every)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{name} is an integer of at least 1, not {value!r}")
    if count is not None and every is not None:
        raise TypeError("best() takes count or every, not both")
    options = _across_scenes(options)
    if every is not None:
        return _best_of_each(every, _scored(images, threads, options, every))
    leaders = []  # sharpest first
    for index, one, image in _scored(images, threads, options):
        if len(leaders) < (count or 1) or one > leaders[-1].score:
            leaders.append(Best(index, one, image))
            leaders.sort(key=lambda leader: -leader.score)
            del leaders[count or 1:]
    if count is not None:
        return leaders
    if not leaders:
        raise ValueError("best() got no images")
    return leaders[0]


def _best_of_each(every, scored):
    leader = None
    for index, one, image in scored:
        if leader is None or one > leader.score:
            leader = Best(index, one, image)
        if (index + 1) % every == 0:
            yield leader
            leader = None
    if leader is not None:
        yield leader


class Autofocus:
    """Finds the position of a focus drive at which images are sharpest, from their scores alone.

        search = Autofocus(0, 100, step=0.5, position=stage.z)
        while not search.done:
            stage.z = search.next_position(fq.score(camera.snap()))

    or search.run(lambda: fq.score(camera.snap()), stage.move_to).

    minimum, maximum: range of positions, in any unit.
    step: distance of neighbouring positions, above 0.
    position: current position of the lens; NaN if unknown.
    coarse_step: distance of positions in the first sweep; 0: chosen from the range.
    lag_frames: frames between a command and the first frame that shows its position; -1: learned.
    settle_frames: frames after a command in which the lens may still move, including the lag; 0 where lag_frames is -1:
        learned.
    average_frames: minimum number of scores averaged at a position.
    stop_and_go: stop at each position of the first sweep, too.
    backlash: play between motor and lens, in the unit of positions; negative: learned.
    continuous: keep watching the score after the search, and search again when focus is lost.
    min_certainty: search on once, then fail, if the search ends with less certainty; 0: never.
    goal: the object to focus on where there are several: "peak", the one with the highest score; "nearest", the one at
        the largest position of those that stand out; "farthest", the one at the smallest position.
    stack: after each search that found focus, take this many images around it, and go back: a focus stack.
    stack_step: distance between these images; 0: chosen from the width of the peak, so that no depth is left out.

    Raises ValueError if an option is out of range.
    """

    _GOALS = ("peak", "nearest", "farthest")

    def __init__(self, minimum, maximum, step, *, position=float("nan"), coarse_step=0, lag_frames=0, settle_frames=0,
                 average_frames=1, stop_and_go=False, backlash=0, continuous=False, min_certainty=0.5,
                 goal="peak", stack=0, stack_step=0):
        if not float("-inf") < minimum <= maximum < float("inf"):
            raise ValueError(f"minimum and maximum must be finite, and minimum at most maximum, not {minimum!r} and {maximum!r}")
        if goal not in self._GOALS:
            raise ValueError(f"goal must be one of {', '.join(map(repr, self._GOALS))}, not {goal!r}")
        self._search = _core.Focus(minimum, maximum, step, position, coarse_step, backlash, lag_frames, settle_frames,
                                   average_frames, stop_and_go, continuous, min_certainty, self._GOALS.index(goal), stack,
                                   stack_step)
        self._position, self._frames, self._moves = position, 0, 0

    def next_position(self, measured):
        """Return the position for the next image, given the score or Measurement of an image at the present one.

        NaN: the image could not be measured. With a Measurement, changes of noise or light do not start a new search.
        """
        if isinstance(measured, Measurement):
            m = measured
            is_move, position = self._search.next_result(m.score, m.noise, m.mean, m.gradient_energy, m.gradient_noise,
                                                         m.light_power)
        else:
            is_move, position = self._search.next(measured)
        self._position = position
        self._frames += 1
        self._moves += is_move
        return position

    def run(self, score, move, max_frames=1000, on_stack=None):
        """Call score() and move(position) until the lens is in focus. Return that position.

        Returns at once if the search has ended: call trigger() first to search again.

        score: snaps an image and returns its score or Measurement.
        move: moves the lens, and returns when it has arrived, unless lag_frames or settle_frames say otherwise.
        on_stack: called with number and position, for each image of the stack, right after score() has returned it.
        Raises Error, with the reason, if no peak is found, or not within max_frames.
        """
        last = self._frames + max_frames
        while not self.done:
            if self._frames >= last:
                raise Error(f"autofocus gave up after {max_frames} images, in state {self.state!r}: pass a larger max_frames, "
                            "or a larger step")
            moves = self._moves
            position = self.next_position(score())
            number, _, stood = self._search.stack_image()
            if on_stack and number:
                on_stack(number, stood)
            if self._moves != moves:
                move(position)
        if self.state != "focused":
            raise Error(f"autofocus failed: {self.reason}")
        return self._position

    def trigger(self):
        """Start a new search over the whole range."""
        self._search.trigger()

    @property
    def done(self):
        """True if no search is in progress: focused, failed or idle."""
        return self.state in ("idle", "focused", "failed")

    @property
    def state(self):
        """"idle", "coarse", "fine", "settle", "focused", "failed", "tracking" or "stack"."""
        return self._search.state()

    @property
    def stack_image(self):
        """Number of the image whose score was passed last in its focus stack, from 1 to `stack`; 0: it is in none."""
        return self._search.stack_image()[0]

    @property
    def reason(self):
        """Why the search chose its last position, or why it ended: a clause for messages."""
        return self._search.reason()

    @property
    def position(self):
        """Position where the lens should be now."""
        return self._position

    @property
    def curve(self):
        """[(position, score), ...] of the last finished search, in order of position."""
        return self._search.curve()[3]

    @property
    def top(self):
        """Position of the peak that the last finished search found, between steps; NaN if it found none."""
        return self._search.curve()[0]

    @property
    def error(self):
        """Standard error of top, in the unit of positions; 0 if unknown."""
        return self._search.curve()[1]

    @property
    def certainty(self):
        """Probability, 0 to 1, that the last finished search is in focus, within one step or 1% of the range, whichever
        is more; 0 if it found no peak."""
        return self._search.curve()[2]

    @property
    def frames(self):
        """Number of scores so far."""
        return self._frames

    @property
    def moves(self):
        """Number of commands to the lens so far."""
        return self._moves


def quality(image, *, channel="red", **reading):
    """Return the perceived quality of an image, from 0 (best) to 99 (worst), by BLIINDS-II.

    image: as for score(), at least 4 x 4 pixels.
    channel: "red", which the model was trained on, or "luma"; gray images have one.
    reading: order, bayer, channel_axis, bits, data_range, device: as for score().

    Source: Saad, Bovik, Charrier, IEEE Transactions on Image Processing 21 (2012).
    """
    return _core.quality(image, channel, **reading)


def denoise(image, *, method="nlmeans", strength=-1.0, sigma=None, sigma_spatial=10.0, patch_radius=None,
            search_radius=None, threads=0, **reading):
    """Return a denoised copy of an image: an array of the same shape and dtype (a memoryview without numpy).

    image: as for score(), in host memory; no mosaic. Alpha is copied.
    method: "nlmeans" (Buades, Coll, Morel, CVPR 2005) or "patch-bilateral".
    strength: grey levels; 0: no effect; negative: follow the noise of the image. nlmeans: h in exp(-d / h^2);
      patch-bilateral: sigma of the range weight.
    sigma: nlmeans: standard deviation of the noise to subtract from patch distances, grey levels; negative: estimate it;
      default 0.
    sigma_spatial: patch-bilateral: sigma of the spatial weight, pixels.
    patch_radius, search_radius: pixels, 0 to 7 and 0 to 16; default: 3 and 10, patch-bilateral 1 and 3.
    threads: CPU threads; 0: as many as there are cores.
    reading: order, channel_axis, bits, data_range, device: as for score(). Grey levels are those of 8 bits.
    """
    settings = (method, strength, sigma, sigma_spatial, patch_radius, search_radius, threads)
    return _array(*_core.denoise(image, settings, **reading))


def halftone(image, *, method="floyd-steinberg", levels=2, packed=False, serpentine=False, invert=False, linear=False,
             limited=False, strength=1.0, threads=0, palette=None, absolute=False, **reading):
    """Return a halftone of an image's luma: a uint8 array (H, W) with values from 0 (black) to 255 (white).
    With a palette, return a halftone of its colours: a uint8 array (H, W, 3).

    image: as for score(), in host memory.
    method: "floyd-steinberg" (1976), "tone-dependent" (Mao et al., ICIP 2018) or "blue-noise" (Ulichney, 1993).
    levels: 2, 4 or 16 equally spaced grey levels.
    packed: return (H, (W + 7) // 8) bytes, one bit per pixel, 1 is white, highest bit first; 2 levels only.
    serpentine: floyd-steinberg in alternating directions, on one CPU core.
    invert: white becomes black.
    linear: dither in linear light, taking the image as sRGB.
    limited: black and white are 16 and 235.
    strength: fraction of the error that is diffused, 0 to 1.
    threads: CPU threads; 0: as many as there are cores.
    palette: name of a display's palette, such as "spectra6"; or 2 to 16 colours, such as "#000000,#ffffff,#ff0000"; or
      the pathlib.Path of a text file with one of these on each line; with floyd-steinberg, on the CPU, or blue-noise.
      levels is ignored. packed: return rows of the display's codes of the colours, 1, 2 or 4 bits each, highest first;
      codes count from 0, and "#ff0000=5" gives a colour the code 5.
    absolute: with a palette, keep the image's colours. Otherwise its black and white become the darkest and the lightest
      colour of the palette, and colours that cannot be mixed become the nearest that can.
    reading: order, bayer, channel_axis, bits, data_range, device: as for score().
    """
    if isinstance(palette, os.PathLike):
        palette = _core.read_palette(palette)
    settings = (method, levels, packed, serpentine, invert, linear, limited, strength, threads, palette, absolute)
    return _array(*_core.halftone(image, settings, **reading))


def devices():
    """Return a list of Device: all GPUs, usable or not, and the CPU last. The first call starts the GPU drivers."""
    return [Device(*device) for device in _core.devices()]


def read(path):
    """Return an image file as an array of uint8 or uint16: (H, W), (H, W, 3) RGB or (H, W, 4) RGBA.

    Reads PGM and PPM by itself; other formats need Pillow or OpenCV. Palettes, CMYK and the like become RGB. EXIF
    orientation is ignored. Raises OSError if the file cannot be read, ImportError if neither Pillow nor OpenCV is installed.
    """
    from . import files
    return files.read(path)
