#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network camera for walk-throughs: serves a computed scene as MJPEG over HTTP, in focus and then out of focus.

usage: camera.py SECONDS    prints its port; each client sees a camera that goes out of focus after SECONDS
"""
import http.server
import subprocess
import sys

RATE = 10
FOCUSED, DEFOCUSED = 62, 30  # positions of the lens


def source(position, seconds):
    """The installed plugin's simulated lens; each frame has noise of its own, as a camera's does."""
    return (f"virtuallenssrc best-position={FOCUSED} position={position} noise=5 num-buffers={RATE * seconds} ! "
            f"video/x-raw,framerate={RATE}/1 ! c.")


class Camera(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        line = (f"concat name=c ! videoconvert ! jpegenc quality=95 ! multipartmux boundary=frame ! fdsink sync=true "
                f"{source(FOCUSED, int(sys.argv[1]))} {source(DEFOCUSED, 600)}")
        with subprocess.Popen(["gst-launch-1.0", "-q", *line.split()], stdout=subprocess.PIPE) as player:
            try:
                while part := player.stdout.read1(65536):
                    self.wfile.write(part)
            except OSError:  # the client is gone
                pass
            player.terminate()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
print(server.server_address[1], flush=True)
server.serve_forever()
