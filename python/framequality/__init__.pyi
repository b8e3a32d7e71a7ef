# SPDX-License-Identifier: LGPL-2.1-or-later
# Types of the public functions; __init__.py has the texts. `Any` images: see score().
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, overload

Metric = Literal[
    "variance", "roberts", "tenengrad", "laplacian", "gray-difference", "gray-difference-product",
    "max-min", "entropy", "laplacian-variance", "brenner", "normalized-variance", "vollath-f4",
    "mean-square-frequency", "directional-frequency"]
Prefilter = Literal["none", "binomial3", "binomial5"]
Bayer = Literal["rggb", "grbg", "gbrg", "bggr"]
Blur = Literal["flat", "sharp", "defocus", "motion"]
Goal = Literal["peak", "nearest", "farthest"]
State = Literal["idle", "coarse", "fine", "settle", "focused", "failed", "tracking", "stack"]

__version__: str
__all__: list[str]
METRICS: dict[str, str]
ACROSS_SCENES: dict[str, Any]

class Error(RuntimeError): ...

class Measurement(NamedTuple):
    score: float
    zones: Any
    noise: float
    mean: float
    clipped_black: float
    clipped_white: float
    blur: Blur | None
    anisotropy: float
    blur_angle: float
    gradient_energy: float
    pixels: int
    device: str
    gradient_noise: float
    light_power: int
    def __float__(self) -> float: ...

class Best(NamedTuple):
    index: int
    score: float
    image: Any

class Device(NamedTuple):
    name: str
    title: str
    usable: bool
    reason: str

def score(image: Any, /, *,
          metric: Metric = "tenengrad", prefilter: Prefilter = "none", downscale: Literal[0, 1, 2, 4] = 1,
          normalize: Literal["none", "mean"] = "none", roi: Sequence[int] | None = None, mask: Any = None,
          noise_correction: bool = False, limited: bool = False, interlaced: bool = False,
          order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None, channel_axis: int = -1,
          bits: int | None = None, data_range: tuple[float, float] | None = None, device: str | None = None) -> float: ...
def measure(image: Any, *,
            zones: Sequence[int] = (1, 1), metric: Metric = "tenengrad", prefilter: Prefilter = "none",
            downscale: Literal[0, 1, 2, 4] = 1, normalize: Literal["none", "mean"] = "none",
            roi: Sequence[int] | None = None, mask: Any = None, noise_correction: bool = False, limited: bool = False,
            interlaced: bool = False, order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None,
            channel_axis: int = -1, bits: int | None = None, data_range: tuple[float, float] | None = None,
            device: str | None = None) -> Measurement: ...
def scores(images: Iterable[Any], *,
           threads: int = 0, metric: Metric = "tenengrad", prefilter: Prefilter = "none",
           downscale: Literal[0, 1, 2, 4] = 1, normalize: Literal["none", "mean"] = "none",
           roi: Sequence[int] | None = None, mask: Any = None, noise_correction: bool = False, limited: bool = False,
           interlaced: bool = False, order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None,
           channel_axis: int = -1, bits: int | None = None, data_range: tuple[float, float] | None = None,
           device: str | None = None) -> Any: ...
def rank(images: Iterable[Any], *,
         threads: int = 0, metric: Metric = "directional-frequency", prefilter: Prefilter = "binomial5",
         downscale: Literal[0, 1, 2, 4] = 0, normalize: Literal["none", "mean"] = "none",
         roi: Sequence[int] | None = None, mask: Any = None, noise_correction: bool = True, limited: bool = False,
         interlaced: bool = False, order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None,
         channel_axis: int = -1, bits: int | None = None, data_range: tuple[float, float] | None = None,
         device: str | None = None) -> list[tuple[int, float]]: ...
@overload
def best(images: Iterable[Any], *,
         count: None = None, every: None = None, threads: int = 0, metric: Metric = "directional-frequency",
         prefilter: Prefilter = "binomial5", downscale: Literal[0, 1, 2, 4] = 0,
         normalize: Literal["none", "mean"] = "none", roi: Sequence[int] | None = None, mask: Any = None,
         noise_correction: bool = True, limited: bool = False, interlaced: bool = False,
         order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None, channel_axis: int = -1,
         bits: int | None = None, data_range: tuple[float, float] | None = None, device: str | None = None) -> Best: ...
@overload
def best(images: Iterable[Any], *,
         count: int, every: None = None, threads: int = 0, metric: Metric = "directional-frequency",
         prefilter: Prefilter = "binomial5", downscale: Literal[0, 1, 2, 4] = 0,
         normalize: Literal["none", "mean"] = "none", roi: Sequence[int] | None = None, mask: Any = None,
         noise_correction: bool = True, limited: bool = False, interlaced: bool = False,
         order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None, channel_axis: int = -1,
         bits: int | None = None, data_range: tuple[float, float] | None = None, device: str | None = None) -> list[Best]: ...
@overload
def best(images: Iterable[Any], *,
         count: None = None, every: int, threads: int = 0, metric: Metric = "directional-frequency",
         prefilter: Prefilter = "binomial5", downscale: Literal[0, 1, 2, 4] = 0,
         normalize: Literal["none", "mean"] = "none", roi: Sequence[int] | None = None, mask: Any = None,
         noise_correction: bool = True, limited: bool = False, interlaced: bool = False,
         order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None, channel_axis: int = -1,
         bits: int | None = None, data_range: tuple[float, float] | None = None, device: str | None = None) -> Iterator[Best]: ...
def quality(image: Any, *,
            channel: Literal["red", "luma"] = "red", order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None,
            channel_axis: int = -1, bits: int | None = None, data_range: tuple[float, float] | None = None,
            device: str | None = None) -> float: ...
def denoise(image: Any, *,
            method: Literal["nlmeans", "patch-bilateral"] = "nlmeans", strength: float = -1.0,
            sigma: float | None = None, sigma_spatial: float = 10.0, patch_radius: int | None = None,
            search_radius: int | None = None, threads: int = 0, order: Literal["rgb", "bgr"] = "rgb",
            channel_axis: int = -1, bits: int | None = None, data_range: tuple[float, float] | None = None,
            device: str | None = None) -> Any: ...
def halftone(image: Any, *,
             method: Literal["floyd-steinberg", "tone-dependent", "blue-noise"] = "floyd-steinberg",
             levels: Literal[2, 4, 16] = 2, packed: bool = False, serpentine: bool = False, invert: bool = False,
             linear: bool = False, limited: bool = False, strength: float = 1.0, threads: int = 0,
             palette: str | PathLike[str] | None = None, absolute: bool = False,
             order: Literal["rgb", "bgr"] = "rgb", bayer: Bayer | None = None, channel_axis: int = -1,
             bits: int | None = None, data_range: tuple[float, float] | None = None,
             device: str | None = None) -> Any: ...
def devices() -> list[Device]: ...
def read(path: str | PathLike[str]) -> Any: ...

class Autofocus:
    def __init__(self, minimum: float, maximum: float, step: float, *, position: float = ..., coarse_step: float = 0,
                 lag_frames: int = 0, settle_frames: int = 0, average_frames: int = 1, stop_and_go: bool = False,
                 backlash: float = 0, continuous: bool = False, min_certainty: float = 0.5,
                 goal: Goal = "peak", stack: int = 0, stack_step: float = 0) -> None: ...
    def next_position(self, measured: float | Measurement) -> float: ...
    def run(self, score: Callable[[], float | Measurement], move: Callable[[float], object],
            max_frames: int = 1000, on_stack: Callable[[int, float], object] | None = None) -> float: ...
    def trigger(self) -> None: ...
    @property
    def stack_image(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def state(self) -> State: ...
    @property
    def reason(self) -> str: ...
    @property
    def position(self) -> float: ...
    @property
    def curve(self) -> list[tuple[float, float]]: ...
    @property
    def top(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def certainty(self) -> float: ...
    @property
    def frames(self) -> int: ...
    @property
    def moves(self) -> int: ...
