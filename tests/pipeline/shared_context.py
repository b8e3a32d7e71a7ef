# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lines of docs/gpu.md that share a CUDA context among pipelines do, with contexts that stand for a GPU's.

usage: shared_context.py SOURCE_ROOT
"""
import pathlib
import re
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

CUDA, OTHER = "gst.cuda.context", "gst.gl.GLDisplay"


def ask(element, kind):
    element.post_message(Gst.Message.new_need_context(element, kind))
    return element.get_context(kind)


def main():
    Gst.init(None)
    page = (pathlib.Path(sys.argv[1]) / "docs" / "gpu.md").read_text(encoding="utf-8")
    lines, = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    pipelines = [Gst.parse_launch("identity name=it ! fakesink") for _ in range(4)]
    exec(lines, {"Gst": Gst, "pipelines": pipelines})  # pylint: disable=exec-used
    first, late, second, third = (pipeline.get_by_name("it") for pipeline in pipelines)
    assert ask(first, CUDA) is None
    contexts = {kind: Gst.Context.new(kind, True) for kind in (CUDA, OTHER)}
    for context in contexts.values():
        first.post_message(Gst.Message.new_have_context(first, context))
    late.post_message(Gst.Message.new_have_context(late, Gst.Context.new(CUDA, False)))
    for element in (second, third):
        found = ask(element, CUDA)
        assert found and found.is_persistent()  # the first one
        assert ask(element, OTHER) is None
    return 0


sys.exit(main())
