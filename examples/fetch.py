"""Fetches a page, waiting for its server to be there, and says how long that took: something to run in `tailback emulate`."""

import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

for _ in range(50):
    try:
        began = time.monotonic()
        with urlopen(sys.argv[1]) as answer:
            count = len(answer.read())
        sys.stdout.write(f"{count} bytes in {1e3 * (time.monotonic() - began):.1f} ms\n")
        break
    except URLError:
        time.sleep(0.1)
else:
    sys.exit(f"{sys.argv[1]} does not answer")
