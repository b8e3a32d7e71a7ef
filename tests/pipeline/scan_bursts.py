# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan --burst-gap, --similar and --xmp: groups, their best, the report, ratings.

usage: scan_bursts.py PROGRAM
"""
import json
import os
import re
import sys

from harness import run, run_tests
from photographs import exif, photograph

TOOL = os.path.abspath(sys.argv[1])
DAY = "2024:05:06 07:08:"


def scan(*arguments, **how):
    return run(TOOL, *arguments, **how)


def album(folder):
    """Two bursts, one photograph of another camera, and four whose times say nothing."""
    folder.mkdir()
    photograph(folder / "IMG_1.jpg", "smpte", exif(DAY + "01", "10"), blur=3)
    photograph(folder / "IMG_2.jpg", "smpte", exif(DAY + "01", "60"))
    photograph(folder / "IMG_3.jpg", "smpte", exif(DAY + "04", "59"), blur=2)
    photograph(folder / "IMG_4.jpg", "ball", exif(DAY + "07", "6"))
    photograph(folder / "IMG_5.jpg", "ball", exif(DAY + "08"), blur=4)
    photograph(folder / "IMG_6.jpg", "circular", exif(DAY + "07", model="Other"))
    photograph(folder / "IMG_7.jpg", "smpte", exif("0000:00:00 00:00:00"), blur=4)
    photograph(folder / "IMG_8.jpg", "pinwheel", exif("2999:01:01 00:00:00"))
    photograph(folder / "IMG_9.jpg", "snow")
    (folder / "IMG_10.jpg").write_bytes(b"\xff\xd8 no photograph")


def groups_in(manifest):
    """The names of each group, those chosen in capitals."""
    found = {}
    for frame in manifest["frames"]:
        found.setdefault(frame["group"], []).append(os.path.basename(frame["source"])[:5].upper())
    for lost in manifest["rejected"]:
        if "group" in lost:
            found.setdefault(lost["group"], []).append(os.path.basename(lost["source"])[:5].lower())
    return [sorted(found[number]) for number in sorted(found)]


def state_of(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


def test_bursts(folder):
    album(folder / "album")
    done = scan("--set", "--burst-gap", "3s", "--export", "out", "--manifest", "m.json", "album", cwd=folder, check=1)
    manifest = json.loads((folder / "m.json").read_text("utf-8"))
    # 2.99 s between the second and the third, 3.01 s to the next.
    assert groups_in(manifest) == [["IMG_2", "img_1", "img_3"], ["IMG_4", "img_5"], ["IMG_6"], ["IMG_7"], ["IMG_8"], ["IMG_9"]], manifest
    assert sorted(os.listdir(folder / "out")) == [f"IMG_{i}.jpg" for i in (2, 4, 6, 7, 8, 9)]
    said = done.stderr.decode()
    assert "9 photographs in 6 groups" in said and "placed by file order" in said and "6 chosen" in said, said
    for fault in ("1 with an EXIF time in the future", "1 with an EXIF time of zero", "1 with no EXIF time"):
        assert fault in said, said
    assert "CRITICAL" not in said, said
    reasons = {os.path.basename(lost["source"]): lost["reason"] for lost in manifest["rejected"]}
    assert re.fullmatch(r"lower score than .*IMG_2.jpg, of the same group", reasons["IMG_1.jpg"]), reasons
    assert manifest["settings"]["burst_gap"] == 3.0 and manifest["settings"]["similar_distance"] is None
    # Of the best of each the two best.
    scan("-q", "--set", "--burst-gap", "3", "--best", "2", "--manifest", "m.json", "album", cwd=folder, check=1)
    assert len(json.loads((folder / "m.json").read_text("utf-8"))["frames"]) == 2


def test_similar(folder):
    scan("-q", "--set", "--similar", "--manifest", "m.json", "album", cwd=folder, check=1)
    manifest = json.loads((folder / "m.json").read_text("utf-8"))
    assert groups_in(manifest)[0] == ["IMG_2", "img_1", "img_3", "img_7"], manifest
    assert manifest["settings"]["similar_distance"] == 14
    for name in ("IMG_6", "IMG_8", "IMG_9"):
        assert [name] in groups_in(manifest), manifest


def test_ratings(folder):
    before = state_of(folder / "album")
    foreign = folder / "album" / "IMG_1.jpg.xmp"
    foreign.write_text("of another program")
    done = scan("--set", "--burst-gap", "3s", "--xmp", "album", cwd=folder, check=1)
    after = state_of(folder / "album")
    assert all(after[name] == state for name, state in before.items())
    assert b"XMP files: 8 written, 0 up to date already, 1 of other programs kept" in done.stderr, done.stderr
    assert b"kept album/IMG_1.jpg.xmp" in done.stderr and foreign.read_text() == "of another program"
    for name, stars in (("IMG_2", 5), ("IMG_3", 1), ("IMG_9", 5)):
        assert f'xmp:Rating="{stars}"' in (folder / "album" / f"{name}.jpg.xmp").read_text("utf-8")
    assert not (folder / "album" / "IMG_10.jpg.xmp").exists()
    # Ours are written anew where the choice is another one.
    scan("-q", "--set", "--best", "1", "--xmp", "album", cwd=folder, check=1)
    assert sum('Rating="5"' in path.read_text("utf-8") for path in (folder / "album").glob("*.xmp")) == 1
    assert foreign.read_text() == "of another program"


def test_a_report_of_200_photographs_is_small(folder):
    (folder / "many").mkdir()
    for i, pattern in enumerate(("smpte", "snow", "zone-plate kx2=20 ky2=20", "checkers-4")):
        path = photograph(folder / f"{i}.jpg", pattern, exif(DAY + f"{10 * i:02}"), size="480x320")
        for k in range(50):
            (folder / "many" / f"{i}_{k}.jpg").symlink_to(path)
    scan("-q", "--set", "--burst-gap", "3s", "--jobs", "4", "--report", "r.html", "many", cwd=folder)
    text = (folder / "r.html").read_text("utf-8")
    assert len(text) <= 2_000_000, len(text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [number for number, _ in data["chosen"]] == [0, 50, 100, 150] and data["groups"] == [i // 50 for i in range(200)]
    assert all(len(file["best"]) == 1 and not file["worst"] and file["zones"] for file in data["files"])


def test_misuse(folder):
    for arguments, text in (
            (["--burst-gap", "3s"], "--burst-gap needs --set"), (["--similar"], "--similar needs --set"),
            (["--xmp"], "--xmp needs --set"), (["--set", "--burst-gap", "-3", "--xmp"], "not '-3'"),
            (["--set", "--burst-gap", "0", "--xmp"], "not '0'"), (["--set", "--burst-gap", "3m", "--xmp"], "not '3m'"),
            (["--set", "--burst-gap", "nan", "--xmp"], "not 'nan'"),
            (["--set", "--burst-gap", "3s"], "need --export DIR"), (["--set", "--xmp"], "--xmp rates what is chosen"),
            (["--set", "--burst-gap", "3s", "--every", "3", "--xmp"], "give one"),
            (["--set", "--similar-distance", "3", "--best", "1", "--xmp"], "--similar-distance needs --similar"),
            (["--set", "--similar", "--similar-distance", "32", "--xmp"], "not '32'")):
        done = scan(*arguments, "album", cwd=folder, check=2)
        assert text in done.stderr.decode(), (arguments, done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
