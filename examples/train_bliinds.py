#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fits a BLIINDS-II model to scores that people gave to your images, and reports how well it predicts unseen scenes.

FEATURES.csv: printed by `framequality-bliinds features`: columns name, frame (optional) and the 24 features.
SCORES.csv: columns name and score, from 0 (best) to 99 (worst); optional: frame (without it a score is for all frames of
the name) and scene. MODEL: the file to write, for `framequality-bliinds score --model` and the property model-location of
bliindsmeter.

The report has the rank correlation (SROCC), linear correlation (PLCC) and root mean square error of raw scores. Scenes,
in order of their names, are distributed over folds; a model of the other folds predicts each fold. `unseen` is all of
these predictions, `in sample` those for the training set itself.
"""
import argparse
import csv
import os
import sys

import numpy

NAMES = [f"{statistic}_L{scale}" for scale in (1, 2, 3) for statistic in (
    "zeta_mean", "zeta_hi10", "gamma_mean", "gamma_lo10", "energy_mean", "energy_hi10", "orient_mean", "orient_hi10")]
LEAST_ROWS = len(NAMES) + 1
TOLERANCE = 1e-10  # a unit column depends on the others if less than this remains without them


class Refused(Exception):
    """A table that cannot be used, with the reason."""


def read(path):
    """-> the header, and (line, fields) of each record. Names are bytes, kept as surrogates."""
    try:
        with open(path, newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
            reader, records, line = csv.reader(file, strict=True), [], 1
            for fields in reader:
                if fields:
                    records.append((line, fields))
                line = reader.line_num + 1
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    except csv.Error as error:
        raise Refused(f"{path}: line {reader.line_num}: {error}") from error
    if not records:
        raise Refused(f"{path}: line 1: no header: the file is empty")
    header = records.pop(0)[1]
    for line, fields in records:
        if len(fields) != len(header):
            raise Refused(f"{path}: line {line}: {len(fields)} fields, but the header has {len(header)}")
    return header, records


def column(path, header, name, optional=False):
    if header.count(name) > 1:
        raise Refused(f"{path}: line 1: two columns '{name}'")
    if name not in header and not optional:
        raise Refused(f"{path}: line 1: no column '{name}'")
    return header.index(name) if name in header else None


def number(path, line, name, field):
    try:
        value = float(field)
    except ValueError:
        value = numpy.nan
    if not numpy.isfinite(value):
        raise Refused(f"{path}: line {line}: column '{name}': '{field}' is not a finite number")
    return value


def frame_of(path, line, fields, at):
    """The frame of a record; -1 if the table has no frames."""
    if at is None:
        return -1
    if not (fields[at].isascii() and fields[at].isdigit()):
        raise Refused(f"{path}: line {line}: column 'frame': '{fields[at]}' is not a whole number")
    return int(fields[at])


def shown(key):
    return f"'{key[0]}'" + (f" frame {key[1]}" if key[1] >= 0 else "")


def join(features_path, scores_path, separator):
    """-> features, scores and scenes of the samples, sorted by name and frame, and whether scenes are named."""
    header, records = read(scores_path)
    name, score = (column(scores_path, header, n) for n in ("name", "score"))
    by_frame, scene = (column(scores_path, header, n, optional=True) for n in ("frame", "scene"))
    opinions = {}
    for line, fields in records:
        key = fields[name], frame_of(scores_path, line, fields, by_frame)
        if key in opinions:
            raise Refused(f"{scores_path}: line {line}: {shown(key)} a second time")
        of = fields[scene] if scene is not None else key[0].rsplit("/", 1)[-1].split(separator)[0] if separator else key[0]
        opinions[key] = number(scores_path, line, "score", fields[score]), of, line
    header, records = read(features_path)
    name, frame = column(features_path, header, "name"), column(features_path, header, "frame", optional=True)
    columns = [column(features_path, header, n) for n in NAMES]
    samples, used = {}, set()
    for line, fields in records:
        key = fields[name], max(frame_of(features_path, line, fields, frame), 0)
        wanted = key if by_frame is not None else (key[0], -1)
        values = [number(features_path, line, n, fields[c]) for n, c in zip(NAMES, columns)]
        if wanted not in opinions:
            raise Refused(f"{features_path}: line {line}: {shown(wanted)} has no score")
        if key in samples:
            raise Refused(f"{features_path}: line {line}: {shown(key)} a second time")
        samples[key] = values, *opinions[wanted][:2]
        used.add(wanted)
    for key, (_, _, line) in opinions.items():
        if key not in used:
            raise Refused(f"{scores_path}: line {line}: {shown(key)} has no features")
    values, scores, scenes = zip(*(samples[key] for key in sorted(samples))) if samples else ((), (), ())
    return numpy.array(values).reshape(-1, len(NAMES)), numpy.array(scores), numpy.array(scenes, object), bool(separator or scene is not None)


def dependent(columns):
    """Which of these centred unit columns depend on the others: those that remain when the largest are removed."""
    rest, left = columns.copy(), list(range(columns.shape[1]))
    while left:
        lengths = numpy.linalg.norm(rest[:, left], axis=0)
        if lengths.max() < TOLERANCE:
            break
        largest = left.pop(int(lengths.argmax()))
        direction = rest[:, largest] / lengths.max()
        rest -= numpy.outer(direction, direction @ rest)
    return left


def train(features, scores):
    """-> constant and weights of the linear model with the least squares. The authors fit a Gaussian density: the score
    that is most likely, given the features, is this regression."""
    if len(scores) < LEAST_ROWS:
        raise Refused(f"{len(scores)} rows are too few: 24 weights and a constant need {LEAST_ROWS}")
    mean = features.mean(axis=0)
    centred = features - mean
    length = numpy.linalg.norm(centred, axis=0)
    # The rounding error of a constant has no direction.
    fault = [i for i in range(len(NAMES)) if length[i] <= TOLERANCE * abs(features[:, i]).max() * len(scores) ** 0.5]
    fault = fault or dependent(centred / length)
    if fault:
        raise Refused("the features are rank-deficient: these are constant, or follow from the others: "
                      + ", ".join(NAMES[i] for i in fault) + ". Add images that differ more")
    weights = numpy.linalg.lstsq(centred / length, scores - scores.mean(), rcond=None)[0] / length
    return numpy.concatenate([[scores.mean() - weights @ mean], weights])


def predict(model, features):
    return model[0] + features @ model[1:]


def pearson(a, b):
    a, b = a - a.mean(), b - b.mean()
    lengths = numpy.linalg.norm(a) * numpy.linalg.norm(b)
    return f"{a @ b / lengths:10.4f}" if lengths > 0 else f"{'n/a':>10}"


def ranks(values):
    """Equal values share their mean rank."""
    _, place, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    return (numpy.cumsum(counts) - (counts + 1) / 2)[place]


def row(what, predicted, scores, scenes):
    return (f"{what:10}{len(scores):10}{len(set(scenes)):10}{pearson(ranks(predicted), ranks(scores))}{pearson(predicted, scores)}"
            f"{numpy.sqrt(numpy.mean((predicted - scores) ** 2)):10.3f}\n")


def report(features, scores, scenes, model, folds):
    text = "                rows    scenes     SROCC      PLCC      RMSE\n"
    names = sorted(set(scenes))
    fold_of = {name: i % min(folds, len(names)) for i, name in enumerate(names)} if folds else {}
    its = numpy.array([fold_of.get(scene, 0) for scene in scenes])
    predicted, count = numpy.empty(len(scores)), its.max() + 1
    for fold in range(count if count > 1 else 0):
        out = its == fold
        try:
            predicted[out] = predict(train(features[~out], scores[~out]), features[out])
        except Refused as error:
            raise Refused(f"fold {fold + 1} of {count}: without its scenes {error}") from error
        text += row(f"fold {fold + 1}", predicted[out], scores[out], scenes[out])
    if count > 1:
        text += row("unseen", predicted, scores, scenes)
    return text + row("in sample", predict(model, features), scores, scenes)


def fold_count(text):
    folds = int(text)
    if folds < 0 or folds == 1:
        raise ValueError
    return folds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=fold_count, default=5, metavar="N", help="use this many folds, from 2 on (default 5); 0: none")
    parser.add_argument("--scene-separator", default="", metavar="S", help="without a column scene, use the name without "
                        "folders, up to the first S, as the scene (default: the whole name)")
    for name in ("features", "scores", "model"):
        parser.add_argument(name, metavar=name.upper() + (".csv" if name != "model" else ""))
    given = parser.parse_args()
    try:
        features, scores, scenes, named = join(given.features, given.scores, given.scene_separator)
        model = train(features, scores)
        text = report(features, scores, scenes, model, given.folds)
        with open(given.model + ".part", "w", encoding="ascii") as file:
            file.write("# BLIINDS-II, trained by train_bliinds.py. Agreement of raw scores with the given ones:\n"
                       + "".join(f"# {line}\n" for line in text.splitlines())
                       + "linear\n" + "".join(f"{value:.17g}\n" for value in model))
        os.replace(given.model + ".part", given.model)
    except Refused as error:
        sys.exit(f"train_bliinds.py: {error}")
    except OSError as error:
        sys.exit(f"train_bliinds.py: {given.model}: {error.strerror}")
    if not named:
        print("note: each name counts as a separate scene. If several show the same scene, add a column scene\n"
              "      or --scene-separator: otherwise 'unseen' looks better than it is", file=sys.stderr)
    outside = numpy.count_nonzero((scores < 0) | (scores > 99))
    if outside:
        print(f"warning: {outside} scores lie outside 0...99: only raw-score can reach them", file=sys.stderr)
    sys.stdout.write(text)


main()
