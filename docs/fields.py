# SPDX-License-Identifier: LGPL-2.1-or-later
"""Descriptions of signals and of fields of messages, metadata and `stats`, for scripts/docs: classes do not have them.

Tables are by element, or by the base class that several share: an element has those of both.
"""

# Properties inherited from GStreamer's base classes, by our base class.
INHERITED = {
    "FqFilterBase": {"qos": "Drop late frames instead of filtering them"},
}

SIGNALS = {
    "trigger": "start a search now",
    "cancel": "stop searching and watching",
    "arrived": "the lens has arrived (`wait-for-arrival=true`)",
    "relearn": "forget the baseline and learn from scratch",
    "move": "asks the application to move the lens to this position; emitted for every move, in the streaming thread",
}

TIMES = {
    "timestamp": "timestamp of the frame, ns; `GST_CLOCK_TIME_NONE` if unknown",
    "stream-time": "the same in stream time",
    "running-time": "the same in running time",
}
# Of bus messages and metadata.
FIELDS = {
    "FqMeterBase": {
        **TIMES,
        "duration": "duration of the frame, ns; `GST_CLOCK_TIME_NONE` if unknown",
        "frame": "number of the measured frame since start, from 0",
        "width": "width of the measured frame, pixels",
        "height": "height of the measured frame, pixels",
        "device": "device that measured the frame: `cpu`, `cuda` or `opencl`",
    },
    "sharpnessmeter": {
        "metric": "name of the metric",
        "score": "score in the metric's unit, in 8-bit grey levels at any bit depth; never NaN or infinite",
        "roi": "as set",
        "zone-columns": "as set",
        "zone-rows": "as set",
        "zones": "scores of the zones, row by row",
        "noise": "estimated standard deviation of the white noise of the frame or roi, 8-bit grey levels (Immerkaer "
                 "1996, lower quartile of 16x16 blocks)",
        "mean": "mean luma of the frame or roi, 8-bit grey levels, black included",
        "clipped-black": "share of its pixels at or below black (0; 16 in limited range)",
        "clipped-white": "share of its pixels at or above white (the largest value; 235 in limited range)",
        "normalize": "as set: `none` or `mean`",
        "gradient-energy": "the score of `tenengrad` of the frame or roi, minus the contribution of noise, grey "
                           "levels²",
        "gradient-noise": "that contribution, grey levels²",
        "zone-gradient-energies": "`gradient-energy` of the zones, row by row",
        "blur": "kind of blur of the frame or roi: `sharp`, `defocus`, `motion`, or `flat` (no detail above the "
                "noise)",
        "anisotropy": "how much the blur differs with direction: 1 − smallest / largest mean square frequency, 0 … 1; "
                      "absent if flat",
        "blur-angle": "direction of the strongest blur, degrees counterclockwise from the x axis, 0 … 180; absent if "
                      "flat",
        "sharpest-zones": "mean score of the N sharpest zones, where N is the property `sharpest-zones`",
        "displacement": "how far the content of the shot's first frame has moved to the right and down, as shares of the "
                        "frame's diagonal",
        "shot": "number of cuts before this frame",
        "damaged": "whether the frame was decoded from incomplete data, or from other frames that were",
        "passed": "whether the frame passed",
    },
    "bliindsmeter": {
        "score": "score from 0 (best) to 99 (worst), in steps of 0.5",
        "raw-score": "the score before rounding and clamping",
        "channel": "`luma` or `red`",
        "features": "the 24 features that the score is computed from",
    },
    "sharpnessgate": {
        **TIMES,
        "state": "`passing`, `blocking` or `picked`",
        "reason": "`above-min-score`, `below-min-score`, `above-resume-score`, `near-median`, `below-median`, "
                  "`above-median`, `other-blur` (too low, but not the blur that `drop` names), `best-of-window` or "
                  "`damaged`",
        "score": "score of the frame",
        "median": "level that the frame is compared with",
    },
    "focuscontroller": {
        **TIMES,
        "event": "`move`, `state` or `stack`: why the message is posted",
        "state": "value of the property `state`",
        "position": "last commanded position of the lens, in the actuator's unit; with `event` `stack`, where it stood in the frame",
        "score": "score of the frame",
        "positions": "positions where the search saw scores, in ascending order; empty if the search was given up",
        "scores": "scores at these positions; those that depend on the light are in that of the first frame, if the meter "
                  "reports `mean`",
        "top": "position of the peak's top, between steps; 0 if no peak was found, as are the next three",
        "width": "half width of the peak at half its height, in the actuator's unit",
        "error": "standard error of `top`",
        "certainty": "probability that the lens stands within one step of the best position, or within 1% of the range "
                     "if that is more",
        "lag-frames": "as set or learned; absent while unknown",
        "backlash": "as set or learned, in the actuator's unit; absent while unknown",
        "stack": "number of the stack since start, from 1",
        "stack-image": "number of the image in its stack, from 1, in the order of positions",
        "stack-images": "number of images in the stack",
    },
}
FIELDS["camerawatch"] = {
    **TIMES,
    "state": "value of the property `state`, or `recovered` when a fault is over",
    "previous": "the state before",
    "reason": "a sentence with the numbers that led to it",
    "repeated": "true if the message repeats that a state lasts",
    "duration": "ns since the fault began; with `recovered`: ns that it lasted",
    "score": "score over the last quarter of a second, like the values below",
    "baseline": "usual score at this brightness; absent while nothing is learned, like `ratio`",
    "ratio": "score divided by baseline",
    "noise": "standard deviation of the noise, 8-bit grey levels; with `statistics`, like the values below",
    "mean": "mean luma, 8-bit grey levels, black included",
    "clipped-black": "share of black pixels",
    "clipped-white": "share of white pixels",
}
# Of the property `stats`.
STATS = {
    "camerawatch": {
        "frames": "frames since start",
        "unscored": "frames without a score",
        "state": "the state",
        "duration": "ns that the state has lasted",
        "score": "score over the last quarter of a second, like the values below",
        "baseline": "usual score at this brightness; absent while nothing is learned",
        "ratio": "score divided by baseline",
        "noise": "standard deviation of the noise, 8-bit grey levels",
        "usual-noise": "usual noise at this brightness",
        "mean": "mean luma, 8-bit grey levels, black included",
        "contrast": "energy of the gradient divided by the usual one, each divided by the square of the mean luma",
        "difference": "difference of the zones' pattern from the usual one: 0 (the same) … 1 (unrelated)",
        "changed": "share of the zones that differ",
        "clipped-white": "share of white pixels",
        "clipped-black": "share of black pixels",
    },
    "FqMeterBase": {
        "measured": "frames that were measured",
        "skipped": "frames that were not measured: skipped by `interval`, or not measurable",
        "replayed-on-cpu": "frames measured again on the CPU after a device's fault",
        "moves": "moves between the CPU and a device, to find the cheaper one with `device=auto`",
        "busy-ns": "time spent measuring, ns",
    },
    "FqFilterBase": {
        "filtered": "frames that were filtered",
        "replayed-on-cpu": "frames filtered again on the CPU after a device's fault",
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
