#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads at the same time, threads that come and go, forks, and interpreters."""
import os
import subprocess
import sys
import threading
import time
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(9)
THREADS = 16
IMAGES = [dice.integers(0, 256, shape, np.uint8) for shape in ((64, 64), (33, 91), (200, 300), (120, 80, 3), (50, 70, 4))]
IMAGES += [IMAGES[2] / 255, IMAGES[3].transpose(1, 0, 2), IMAGES[0][:, ::-1]]


def in_threads(count, work):
    """Runs work(number) in threads that begin together; raises what the first of them that failed raised."""
    errors, barrier = [], threading.Barrier(count)

    def run(number):
        try:
            barrier.wait(60)
            work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Threads(unittest.TestCase, support.Failing):
    def test_all_functions(self):
        mask = dice.random((200, 300)) < 0.5
        calls = [lambda image=image, metric=metric: fq.score(image, metric=metric)
                 for image in IMAGES for metric in ("tenengrad", "laplacian-variance", "entropy")]
        calls += [lambda: fq.score(IMAGES[2], mask=mask), lambda: fq.scores(IMAGES, threads=2).tolist(),
                  lambda: fq.quality(IMAGES[2]), lambda: fq.denoise(IMAGES[0], threads=2).tolist(),
                  lambda: fq.halftone(IMAGES[2], threads=2).tolist(), lambda: fq.measure(IMAGES[3])[2:5]]
        wanted = [call() for call in calls]

        def work(number):
            for i in range(2 * len(calls)):
                k = (i * 7 + number) % len(calls)
                self.assertEqual(calls[k](), wanted[k], k)
        in_threads(THREADS, work)

    def test_errors_stay_in_their_thread(self):
        bad = np.full((50, 50), np.nan)

        def work(number):
            for _ in range(200):
                if number % 3 == 0:
                    self.fails(ValueError, "NaN", fq.score, bad)
                elif number % 3 == 1:
                    self.fails(ValueError, "mask", fq.score, IMAGES[0], mask=np.ones((64, 64), bool), downscale=0)
                else:
                    fq.score(IMAGES[0])
        in_threads(THREADS, work)

    def test_the_gil_is_released(self):
        """Another thread runs while a large image is measured."""
        large, ticks, stop = np.tile(IMAGES[2], (10, 10)), 0, threading.Event()
        floats = large / 255

        def tick():
            nonlocal ticks
            while not stop.is_set():
                ticks += 1
                time.sleep(0)  # gives the GIL back
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # the thread runs only while the GIL is given away
        thread = threading.Thread(target=tick)
        try:
            thread.start()
            for call in (lambda: fq.score(large), lambda: fq.score(floats), lambda: fq.scores([large, floats]),
                         lambda: fq.quality(IMAGES[2]), lambda: fq.denoise(IMAGES[2]), lambda: fq.halftone(large)):
                before, give_up = ticks, time.monotonic() + 60
                while ticks == before:
                    call()
                    self.assertLess(time.monotonic(), give_up)
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            thread.join()

    def test_threads_that_end(self):
        """They close their meters: 400 of them need no more memory than a few."""
        def work(_):
            fq.score(IMAGES[2])
            fq.denoise(IMAGES[0], threads=2)
            fq.halftone(IMAGES[0])
            fq.score(IMAGES[5])

        def rounds(n):
            for _ in range(n):
                in_threads(8, work)
            return support.resident_bytes()
        before = rounds(10)
        after = rounds(40)
        self.assertLess(after - before, 24 << 20)
        self.assertEqual(threading.active_count(), 1)

    def test_fork(self):
        """A child has handles of its own: the threads of its parent's are not there."""
        wanted = (fq.score(IMAGES[0]), fq.denoise(IMAGES[0], threads=3).tolist(), fq.scores(IMAGES, threads=3).tolist(),
                  fq.halftone(IMAGES[2], threads=3).tolist())
        child = os.fork()
        if child == 0:
            same = wanted == (fq.score(IMAGES[0]), fq.denoise(IMAGES[0], threads=3).tolist(),
                              fq.scores(IMAGES, threads=3).tolist(), fq.halftone(IMAGES[2], threads=3).tolist())
            os._exit(0 if same else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(fq.score(IMAGES[0]), wanted[0])

    def python(self, code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout, done.stderr

    def test_daemon_threads_at_exit(self):
        """The interpreter ends while threads measure."""
        code = """
import numpy, threading, time, framequality as fq
image = numpy.random.default_rng(1).random((300, 400))
def work():
    while True:
        fq.score(image)
        fq.denoise(image[:20, :20].copy(), threads=1)
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("end")
"""
        for _ in range(5):
            self.assertEqual(self.python(code), (0, "end\n", ""))

    def test_other_interpreters_are_refused(self):
        try:
            import _xxsubinterpreters
        except ImportError:
            self.skipTest("this Python has no _xxsubinterpreters")
        code = """
import framequality, _xxsubinterpreters as other
i = other.create()
try:
    other.run_string(i, "import framequality")
except Exception as error:
    print("one interpreter per process" in str(error) or "does not support" in str(error), end="")
other.destroy(i)
import numpy
print(framequality.score(numpy.zeros((4, 4), numpy.uint8)))
"""
        self.assertEqual(self.python(code), (0, "True0.0\n", ""))

    def test_free_threaded_python_is_refused(self):
        code = "import sys; sys.abiflags = 't'; import framequality"
        status, _, text = self.python(code)
        self.assertEqual(status, 1)
        self.assertIn("ImportError: framequality does not support free-threaded builds of Python", text)

    def test_module_is_imported_again(self):
        code = """
import sys, framequality
first = framequality
for name in [n for n in sys.modules if n.startswith("framequality")]:
    del sys.modules[name]
import framequality
try:
    framequality.score(None)
except TypeError:
    print(framequality.Error is first.Error, framequality.METRICS == first.METRICS)
"""
        self.assertEqual(self.python(code), (0, "True True\n", ""))


if __name__ == "__main__":
    support.main()
