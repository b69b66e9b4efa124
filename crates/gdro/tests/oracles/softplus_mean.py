"""A(s) = E log(1 + exp(-s u)), A'(s), A''(s) for u ~ N(0, 1), by adaptive quadrature with 30 digits (mpmath)."""
from mpmath import mp, mpf, exp, log, quad, sqrt, pi

mp.dps = 30
BREAKS = [-12, -4, -1, -0.1, 0, 0.1, 1, 4, 12]


def expectation(f):
    return quad(lambda u: f(u) * exp(-u * u / 2) / sqrt(2 * pi), BREAKS)


for s in map(mpf, ("0.1", "0.5", "1.765", "5", "40")):
    sigma = lambda u: 1 / (1 + exp(s * u))
    value = expectation(lambda u: log(1 + exp(-s * u)))
    slope = expectation(lambda u: -u * sigma(u))
    curvature = expectation(lambda u: u * u * sigma(u) * (1 - sigma(u)))
    print(f"({mp.nstr(s, 4)}, [{float(value)!r}, {float(slope)!r}, {float(curvature)!r}]),")
