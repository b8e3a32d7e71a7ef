# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a class cannot say, for scripts/docs: what fields of messages, metadata and `stats` mean, and signals.

Tables are by element, or by the base class that several share: an element has those of both.
"""

# Properties of GStreamer's own base classes that are ours to document, by our base class.
INHERITED = {
    "FqFilterBase": {"qos": "Drop late frames instead of filtering them"},
}

SIGNALS = {
    "trigger": "search now",
    "cancel": "stop searching and watching",
    "arrived": "the lens has arrived (`wait-for-arrival=true`)",
    "relearn": "forget what is usual and learn it anew",
    "move": "move the lens to this position; emitted for every move, in the streaming thread",
}

TIMES = {
    "timestamp": "of the frame, ns; `GST_CLOCK_TIME_NONE` where unknown",
    "stream-time": "the same as stream time",
    "running-time": "the same as running time",
}
# Of bus messages and metadata.
FIELDS = {
    "FqMeterBase": {
        **TIMES,
        "duration": "ns; `GST_CLOCK_TIME_NONE` where unknown",
        "frame": "measured frames since start, from 0",
        "width": "of the frame measured, pixels",
        "height": "of the frame measured, pixels",
        "device": "`cpu` or `cuda`",
    },
    "sharpnessmeter": {
        "metric": "nick of the metric",
        "score": "in the metric's unit, scaled to 8-bit codes at any bit depth; never NaN or infinite",
        "roi": "as set",
        "zone-columns": "as set",
        "zone-rows": "as set",
        "zones": "their scores, row by row",
        "noise": "standard deviation of the frame's or roi's white noise, 8-bit codes, as estimated (Immerkaer 1996, "
                 "lower quartile of 16x16 blocks)",
        "mean": "mean luma of the frame or roi, 8-bit codes, black included",
        "clipped-black": "share of its pixels at black (the code 0; 16 in limited range) or below",
        "clipped-white": "share of its pixels at white (the largest code; 235 in limited range) or above",
        "normalize": "as set: `none` or `mean`",
        "gradient-energy": "the score of `tenengrad` of the frame or roi, less the share of noise, "
                           "code²",
        "gradient-noise": "that share, code²",
        "zone-gradient-energies": "the same of the zones, row by row",
        "blur": "kind of blur of the frame or roi: `sharp`, `defocus`, `motion`, or `flat` (no detail above the "
                "noise)",
        "anisotropy": "how much the blur differs with direction: 1 − smallest / largest mean square frequency, 0 … 1; "
                      "absent if flat",
        "blur-angle": "direction that is blurred most, degrees counterclockwise from the x axis, 0 … 180; absent if "
                      "flat",
        "sharpest-zones": "mean score of the N sharpest zones, N being the property of that name",
        "displacement": "how far the content of the shot's first frame has moved to the right and down, as shares of the "
                        "frame's diagonal",
        "shot": "number of cuts before this frame",
        "passed": "whether the frame passed",
    },
    "bliindsmeter": {
        "score": "0 best … 99 worst, in steps of 0.5",
        "raw-score": "the same before rounding and clamping",
        "channel": "`luma` or `red`",
        "features": "the 24 features that the score is computed from",
    },
    "sharpnessgate": {
        **TIMES,
        "state": "`passing`, `blocking` or `picked`",
        "reason": "`above-min-score`, `below-min-score`, `above-resume-score`, `near-median`, `below-median`, "
                  "`above-median`, `other-blur` (too low, but not the blur that `drop` names) or `best-of-window`",
        "score": "of the frame",
        "median": "the level that the frame is compared with",
    },
    "focuscontroller": {
        **TIMES,
        "event": "`move` or `state`: why the message is posted",
        "state": "nick of the property `state`",
        "position": "last commanded position of the lens, in the actuator's unit",
        "score": "of the frame",
        "positions": "where the search saw scores, in ascending order; empty if it was given up",
        "scores": "the scores seen there",
        "top": "position of the peak's top, between steps; 0 of a failed search, as the next two",
        "width": "of the peak: half of it at half its height, in the actuator's unit",
        "certainty": "standard error of `top`",
        "lag-frames": "as set or learned; absent while not known",
        "backlash": "as set or learned, in the actuator's unit; absent while not known",
    },
}
FIELDS["camerawatch"] = {
    **TIMES,
    "state": "nick of the property `state`; `recovered` when a fault is over",
    "previous": "nick of the state before",
    "reason": "a sentence with the figures that led to it",
    "repeated": "whether it says that a state lasts",
    "duration": "ns since the fault began; of `recovered`: that it lasted",
    "score": "of the last quarter of a second, as the following",
    "baseline": "what is usual in this light; absent while nothing is learned, as the next",
    "ratio": "of score and baseline",
    "noise": "standard deviation, 8-bit codes; with `statistics`, as the following",
    "mean": "mean luma, 8-bit codes, black included",
    "clipped-black": "share of the pixels",
    "clipped-white": "share of the pixels",
}
# Of the property `stats`.
STATS = {
    "camerawatch": {
        "frames": "frames since start",
        "unscored": "of these, without a score",
        "state": "nick of the state",
        "duration": "ns that it has lasted",
        "score": "of the last quarter of a second, as the following",
        "baseline": "what is usual in this light; absent while nothing is learned",
        "ratio": "of score and baseline",
        "noise": "standard deviation, 8-bit codes",
        "usual-noise": "the same as learned",
        "mean": "mean luma, 8-bit codes, black included",
        "contrast": "energy of the gradient over the usual one, each over the square of the mean luma",
        "difference": "of the zones' pattern from the usual one: 0 the same … 1 another",
        "changed": "share of the zones that differ",
        "clipped-white": "share of the pixels",
        "clipped-black": "share of the pixels",
    },
    "FqMeterBase": {
        "measured": "frames that were measured",
        "skipped": "frames that were not: skipped by `interval`, or not measurable",
        "replayed-on-cpu": "frames measured again on the CPU after a CUDA fault",
        "moves": "moves between the CPU and a device, to find the cheaper one with `device=auto`",
        "busy-ns": "time spent measuring, ns",
    },
    "FqFilterBase": {
        "filtered": "frames that were filtered",
        "replayed-on-cpu": "frames filtered again on the CPU after a CUDA fault",
        "busy-ns": "time spent filtering, ns",
    },
    "sharpnessgate": {
        "passed": "frames that passed",
        "dropped": "frames that were dropped",
        "marked": "frames that `action=mark` let pass with `passed=false`",
        "unscored": "frames that passed without a score",
        "median": "the last level that a frame was compared with",
    },
}
