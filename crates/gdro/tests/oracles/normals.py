"""The rectangles under f(x) = exp(-x^2/2) of `sampling/normal.rs`, with 40 digits: prints normals.json.

x: the 509 right ends, from the widest rectangle to the narrowest, each by bisection. area: the 510 regions
that they leave right of 0, as shares of one part, sqrt(pi/2)/512: the tail, the region right of each other
rectangle, and the cap, each by the error function. Needs mpmath.
"""

import json

from mpmath import erf, erfc, exp, mp, mpf, pi, sqrt

mp.dps = 40
PART = sqrt(pi / 2) / 512


def f(x):
    return exp(-x * x / 2)


def integral(a, b):
    return sqrt(pi / 2) * (erf(b / sqrt(2)) - erf(a / sqrt(2)))


def widest(y, right):
    """The largest x <= right with x (f(x) - y) = PART, or None."""
    g = lambda x: x * (f(x) - y) - PART
    # g rises and then falls: its top by golden section, then the root right of it by bisection.
    low, high = mpf(0), right
    ratio = (sqrt(5) - 1) / 2
    for _ in range(120):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (a, high) if g(a) < g(b) else (low, b)
    if g(low) <= 0:
        return None
    high = right
    for _ in range(125):
        middle = (low + high) / 2
        low, high = (middle, high) if g(middle) > 0 else (low, middle)
    return low


ends, y, right = [], mpf(0), mpf(5)
while (x := widest(y, right)) is not None:
    ends.append(x)
    right, y = x, f(x)
areas = [sqrt(pi / 2) * erfc(ends[0] / sqrt(2))]
for outer, inner in zip(ends, ends[1:] + [mpf(0)]):
    areas.append(integral(inner, outer) - (outer - inner) * f(outer))
print(json.dumps({"x": [float(x) for x in ends], "area": [float(a / PART) for a in areas]}, indent=0))
