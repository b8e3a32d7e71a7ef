# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch with network cameras: one goes and comes back, one stops sending, one repeats its last frame, one
turns dark, some have passwords.

usage: watch_rtsp.py PROGRAM; skipped without gst-rtsp-server or x264enc.
"""
import os
import pathlib
import sys
import tempfile
import time

from watching import Rtsp, Watch, missing_for_rtsp, until

TOOL = os.path.abspath(sys.argv[1])
SECRETS = ("s3cret&w/rd", "s3cret%26w%2Frd", "wr0ng-word")
ENCODED = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10 ! rtph264pay name=pay0 config-interval=-1"
# Noise, as every sensor has it: a picture that never changes is a frozen one.
NOISY = ("videotestsrc name=noise is-live=true pattern=snow ! video/x-raw,width=320,height=240,framerate=10/1 ! mix.sink_1 "
         "compositor name=mix sink_1::alpha=0.05 ! ")
SCENE = ("videotestsrc name=src is-live=true pattern=smpte75 ! video/x-raw,width=320,height=240,framerate=10/1 ! "
         f"mix.sink_0 {NOISY}video/x-raw,format=I420 ! valve name=out ! {ENCODED}")
TIMES = ("--hold-time", "1", "--recovery-time", "1", "--learn-time", "2", "--repeat-interval", "0")


def write_configuration(path, open_server, other, locked):
    word = path.with_name("password")
    word.write_text(SECRETS[0] + "\n")
    cameras = [
        ("steady", open_server.url("steady"), ""),
        ("stalls", open_server.url("stalls"), 'stall-time = 5'),
        ("darkens", open_server.url("darkens"), ""),
        ("freezes", open_server.url("freezes"), ""),
        ("goes", other.url("goes"), 'transport = "udp"\nstall-time = 5'),
        ("missing", open_server.url("nowhere"), ""),
        ("in url", locked.url("locked").replace("//", f"//viewer:{SECRETS[1]}@"), ""),
        ("in file", locked.url("locked"), 'user = "viewer"\npassword-file = "password"'),
        ("wrong", locked.url("locked").replace("//", f"//viewer:{SECRETS[2]}@"), ""),
    ]
    # Those that stay are not lost however long the machine has no time for them. Of datagrams it then loses some, and a
    # scene learned with holes in it is another one: that is no test of who is good.
    path.write_text("[defaults]\nstall-time = 1000\ntransport = \"tcp\"\n" + "".join(f'[[camera]]\nname = "{name}"\nurl = "{url}"\n{more}\n' for name, url, more in cameras))


def check(folder):
    configuration = folder / "cameras.toml"
    with Rtsp(0, steady=SCENE, stalls=SCENE, darkens=SCENE, freezes=SCENE) as server, Rtsp(0, "--user", "viewer", "--password", SECRETS[0], locked=SCENE) as locked:
        other = Rtsp(0, goes=SCENE)
        write_configuration(configuration, server, other, locked)
        with Watch(TOOL, "--config", configuration, *TIMES, "--snapshots", folder / "snapshots") as watch:
            running = ("steady", "stalls", "darkens", "freezes", "in url", "in file")
            until(lambda: f"all good: {watch.states()}, {watch.events()}", lambda: {watch.states()[name] for name in running} == {"good"})
            for name in running:
                # The page may say so a moment before the line has been read.
                until(lambda: f"told once: {name}, {watch.events(name)}", lambda: len(watch.events(name)) > 1)
                assert [event["state"] for event in watch.events(name)] == ["connected", "good"], watch.events(name)
            until(lambda: f"datagrams: {watch.events('goes')}", lambda: watch.said("goes", "connected") and watch.status()["goes"]["frames"])
            print("ok all connected", flush=True)

            since = {name: len(watch.events(name)) for name in (*running, "goes")}
            other.__exit__()  # killed, without a word to who watches
            server.set("stalls", "out", "drop", "true")
            server.set("darkens", "src", "pattern", "black")
            server.set("freezes", "noise", "pattern", "black")
            begin = time.monotonic()
            lost = {name: until(lambda: f"{name} lost: {watch.events(name)}", lambda: watch.said(name, "lost", since[name])) for name in ("goes", "stalls")}
            print(f"ok lost after {time.monotonic() - begin:.1f} s:", {name: event["reason"] for name, event in lost.items()}, flush=True)
            dark = until(lambda: f"dark: {watch.events('darkens')} {watch.status()['darkens']}",
                         lambda: watch.said("darkens", "dark", since["darkens"]) or watch.said("darkens", "covered", since["darkens"]))
            assert dark["previous"] == "good" and dark["reason"] and pathlib.Path(folder / "snapshots" / dark["snapshot"]).exists(), dark
            print("ok dark:", dark["reason"], flush=True)
            assert watch.status()["stalls"]["frame_rate"] in (0, None) or watch.status()["stalls"]["last_frame_age"] > 2, watch.status()["stalls"]
            frozen = until(lambda: f"frozen: {watch.events('freezes')}", lambda: watch.said("freezes", "frozen", since["freezes"]))
            print("ok frozen:", frozen["reason"], flush=True)
            missing = until("missing", lambda: watch.said("missing", "lost"))
            wrong = until("wrong", lambda: watch.said("wrong", "lost"))
            print("ok", missing["reason"], "|", wrong["reason"], flush=True)

            since = {name: len(watch.events(name)) for name in (*running, "goes")}
            server.set("stalls", "out", "drop", "false")
            server.set("darkens", "src", "pattern", "smpte75")
            server.set("freezes", "noise", "pattern", "snow")
            with Rtsp(other.port, goes=SCENE):
                begin = time.monotonic()
                back = until(lambda: f"goes back: {watch.events('goes')}", lambda: watch.said("goes", "connected", since["goes"]))
                until(lambda: f"stalls back: {watch.events('stalls')}", lambda: watch.said("stalls", "connected", since["stalls"]))
                recovered = until(lambda: f"recovered: {watch.events('darkens')}", lambda: watch.said("darkens", "recovered", since["darkens"]))
                print(f"ok back after {time.monotonic() - begin:.1f} s", flush=True)
                assert back["previous"] == "lost" and recovered["previous"] == dark["state"] and recovered["duration"] >= 1, (back, recovered)
                until(lambda: f"all good again: {watch.states()}", lambda: {watch.states()[name] for name in running} == {"good"})
                until(watch.status, lambda: all(8 <= (camera["frame_rate"] or 0) <= 12 and camera["last_frame_age"] < 1 and len(camera["history"]) >= 3
                                                for name, camera in watch.status().items() if name in ("steady", "in url", "in file")))
                status = watch.status()
                assert status["goes"]["reconnects"] >= 1 and status["steady"]["reconnects"] == 0, status
                # The others saw nothing of all that, and have lost no frame worth mention.
                for name in ("steady", "in url", "in file"):
                    assert [event["state"] for event in watch.events(name)] == ["connected", "good"], watch.events(name)
                    assert (status[name]["width"], status[name]["height"]) == (320, 240), status[name]
                assert watch.get("thumbnail/steady")[:2] == b"\xff\xd8" and watch.get("thumbnail/in%20url")[:2] == b"\xff\xd8"
                served = b"".join(watch.get(path) for path in ("", "status.json", "metrics", "healthz")).decode()
                assert watch.end() == 128 + 15, watch.errors
                everything = served + "".join(watch.lines) + "".join(watch.errors) + "".join(map(str, folder.rglob("*")))
                for secret in SECRETS:
                    assert secret not in everything, [line for line in everything.splitlines() if secret in line]
                assert "viewer:***@" in served, status
                assert not [line for line in watch.errors if "CRITICAL" in line or "WARNING" in line], watch.errors


def main():
    missing = missing_for_rtsp("x264enc", "rtspsrc", "rtph264pay", "avdec_h264", "compositor")
    if missing:
        print("SKIPPED: without", *missing)
        return 77
    with tempfile.TemporaryDirectory(prefix="watch ") as folder:
        check(pathlib.Path(folder))
    return 0


sys.exit(main())
