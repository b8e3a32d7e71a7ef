#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras of a network that tests and benchmarks need: an RTSP server on 127.0.0.1.

usage: rtsp_server.py [--user NAME --password WORD] PORT NAME=DESCRIPTION...

Serves rtsp://127.0.0.1:PORT/NAME, one pipeline for all who watch it; the description ends in a payloader called pay0.
Port 0: any free one. Prints the port when it serves. On standard input it takes lines
    NAME ELEMENT PROPERTY VALUE
and ends when that is closed, with whoever started it.
"""
import argparse
import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer


def protect(server, factories, user, password):
    """Basic authentication."""
    auth, token = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", user)
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
    server.set_auth(auth)
    for factory in factories:
        permissions = GstRtspServer.RTSPPermissions()
        for permission in ("media.factory.access", "media.factory.construct"):
            permissions.add_permission_for_role(user, permission, True)
        factory.set_permissions(permissions)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("port", type=int)
    parser.add_argument("cameras", metavar="NAME=DESCRIPTION", nargs="+")
    arguments = parser.parse_args()
    Gst.init(None)
    loop, medias, factories = GLib.MainLoop(), {}, []
    server = GstRtspServer.RTSPServer(address="127.0.0.1", service=str(arguments.port))
    for camera in arguments.cameras:
        name, _, description = camera.partition("=")
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(f"( {description} )")
        factory.set_shared(True)
        factory.connect("media-configure", lambda _factory, media, name: medias.update({name: media}), name)
        factories.append(factory)
        server.get_mount_points().add_factory("/" + name, factory)
    if arguments.user:
        protect(server, factories, arguments.user, arguments.password)
    if not server.attach(None):
        print(f"rtsp_server.py: port {arguments.port} cannot be had", file=sys.stderr)
        return 1
    print(server.get_bound_port(), flush=True)

    def command(_channel, _condition):
        text = os.read(0, 65536).decode()  # whole lines: they are short
        for line in text.splitlines():
            name, element, key, value = line.split()
            Gst.util_set_object_arg(medias[name].get_element().get_by_name(element), key, value)
        if not text:
            loop.quit()
        return bool(text)

    GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, command)
    loop.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
