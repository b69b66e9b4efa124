"""Optima of GDRO on public data sets, with proofs of how far from the optimum each can be.

Usage: python sets.py DATA [SET ...] > sets.json   (needs numpy, scipy, cvxpy with CLARABEL)

DATA holds one folder per set, as the test beside this file names them. What is minimised is

    max_i R_i(W, b) + (l2/2) |W|^2,

where R_i is the mean loss of the rows of group i and the intercepts b are free. Tables are read and
encoded here, by themselves: numbers minus their mean over their population deviation, texts as an
indicator of each level, features of LIBSVM files as they are.

- Squared losses: CLARABEL on max_i R_i as quadratic constraints. `upper` is the objective of its
  model, `lower` is D(q) (below) at its multipliers q, which is one linear system.
- Logistic and softmax: the dual function D(q) = min over W, b of sum_i q_i R_i + (l2/2) |W|^2 is
  maximised over the simplex by Newton steps, each a small quadratic program in q; D and its
  derivatives come from Newton's method with conjugate gradients in W and b. At each model the
  objective itself is an upper bound. With b minimised exactly for the W at hand, the weighted
  objective F is l2-strongly convex in W alone, so D(q) >= F - |dF/dW|^2 / (2 l2): the lower bound.
- Wine is solved once more by CLARABEL on exponential cones (`second`).
"""

import csv
import gzip
import json
import sys

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

POLICE = (
    "LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq "
    "LemasTotReqPerPop PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite "
    "PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor OfficAssgnDrugUnits "
    "NumKindsDrugsSeiz PolicAveOTWorked PolicCars PolicOperBudg LemasPctPolicOnPatr "
    "LemasGangUnitDeploy PolicBudgPerPop"
).split()


def lines(path):
    return gzip.open(path, "rt").read().splitlines()


def table(path, target, group, group_is_feature, ignored, texts=()):
    """Features, target cells and group labels of a table with a header."""
    rows = list(csv.DictReader(lines(path)))
    parts = []
    for name in rows[0]:
        if name in ignored or name == target or (name == group and not group_is_feature):
            continue
        cells = [r[name] for r in rows]
        try:
            numbers = np.array([float(c) if c else np.nan for c in cells])
        except ValueError:
            numbers = None
        if numbers is None or name in texts:
            levels = sorted(set(cells))
            parts.append(np.array([[c == level for level in levels] for c in cells], float))
        else:
            numbers = (numbers - np.nanmean(numbers)) / np.nanstd(numbers)
            parts.append(np.nan_to_num(numbers)[:, None])  # a missing cell is the mean
    return np.hstack(parts), [r[target] for r in rows], [r[group] for r in rows]


def svmlight(path, groups):
    """Features, label cells and group labels of a LIBSVM file and its side file."""
    at, indices, values, labels = [0], [], [], []
    for line in lines(path):
        label, *entries = line.split()
        labels.append(label)
        for entry in entries:
            index, value = entry.split(":")
            indices.append(int(index) - 1)
            values.append(float(value))
        at.append(len(indices))
    return sp.csr_matrix((values, indices, at)), labels, lines(groups)


def logistic(labels):
    """Loss, its derivative and its curvature times a direction, for one score a row."""
    sign = np.array([1.0 if float(label) > 0 else -1.0 for label in labels])[:, None]

    def loss(scores):
        margin = sign * scores
        p = np.where(margin > 0, np.exp(-np.abs(margin)), 1) / (1 + np.exp(-np.abs(margin)))
        curvature = p * (1 - p)
        return np.logaddexp(0, -margin)[:, 0], -sign * p, lambda d: curvature * d

    return 1, loss


def softmax(labels):
    """The same for one score per class."""
    classes = sorted(set(labels))
    own = np.array([[label == c for c in classes] for label in labels], float)

    def loss(scores):
        top = scores.max(axis=1, keepdims=True)
        total = np.exp(scores - top).sum(axis=1, keepdims=True)
        p = np.exp(scores - top) / total
        losses = (top + np.log(total))[:, 0] - (own * scores).sum(axis=1)
        return losses, p - own, lambda d: p * (d - (p * d).sum(axis=1, keepdims=True))

    return len(classes), loss


class Game:
    def __init__(self, features, groups, classes, loss, l2):
        self.x, self.classes, self.loss, self.l2 = features, classes, loss, l2
        self.names = sorted(set(groups))
        member = np.array([[g == name for name in self.names] for g in groups], float)
        self.share = member / member.sum(axis=0)  # R = share' losses
        self.d = features.shape[1]

    def split(self, v):
        v = v.reshape(self.d + 1, self.classes)
        return v[:-1], v[-1]

    def scores(self, v):
        w, b = self.split(v)
        return self.x @ w + b

    def back(self, scores):
        """The transpose of `scores`."""
        return np.vstack([self.x.T @ scores, scores.sum(axis=0)]).ravel()

    def ridge(self, v):
        out = v.reshape(self.d + 1, self.classes) * self.l2
        out[-1] = 0
        return out.ravel()

    def evaluate(self, v, q):
        """Risks, weighted objective, its gradient, and its Hessian as a function."""
        losses, slope, curve = self.loss(self.scores(v))
        weight = (self.share @ q)[:, None]
        w, _ = self.split(v)
        risks = self.share.T @ losses
        value = q @ risks + self.l2 / 2 * np.sum(w**2)
        gradient = self.back(weight * slope) + self.ridge(v)

        def hessian(d):
            return self.back(weight * curve(self.scores(d))) + self.ridge(d)

        return risks, value, gradient, hessian

    def inverse(self, v, q, hessian, right, accuracy):
        """Solves hessian x = right by conjugate gradients, scaled by a bound on the diagonal."""
        weight = self.share @ q
        square = self.x.multiply(self.x) if sp.issparse(self.x) else self.x**2
        diagonal = np.append(0.25 * (square.T @ weight) + self.l2, 0.25)
        scale = 1 / np.repeat(diagonal, self.classes)
        n = len(right)
        x, _ = cg(
            LinearOperator((n, n), matvec=hessian),
            right,
            rtol=accuracy,
            atol=1e-14,
            maxiter=3000,
            M=LinearOperator((n, n), matvec=lambda r: scale * r),
        )
        return x

    def minimise(self, v, q, tolerance):
        """Newton's method on the weighted objective from v."""
        for _ in range(60):
            _, value, gradient, hessian = self.evaluate(v, q)
            size = np.linalg.norm(gradient)
            if size < tolerance:
                break
            step = self.inverse(v, q, hessian, -gradient, min(0.1, size))
            length, slope = 1.0, gradient @ step
            while self.evaluate(v + length * step, q)[1] > value + 1e-4 * length * slope:
                length /= 2
                if length < 1e-6:
                    return v
            v = v + length * step
        return v

    def bounds(self, v, q):
        """Bounds on the optimum of the game: the objective of v, and what D(q) is at least."""
        w, _ = self.split(v)
        start = self.x @ w
        for _ in range(30):  # the exact intercepts for these weights
            _, slope, curve = self.loss(self.scores(v))
            weight = (self.share @ q)[:, None]
            gradient = (weight * slope).sum(axis=0)
            if np.abs(gradient).max() < 1e-15:
                break
            ones = [np.tile(e, (start.shape[0], 1)) for e in np.eye(self.classes)]
            hessian = np.array([(weight * curve(e)).sum(axis=0) for e in ones])
            v = v.copy()
            v[-self.classes :] -= np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        risks, value, gradient, _ = self.evaluate(v, q)
        rest, _ = self.split(gradient)
        upper = risks.max() + self.l2 / 2 * np.sum(w**2)
        return value - np.sum(rest**2) / (2 * self.l2), upper

    def solve(self):
        m = len(self.names)
        q, v = np.full(m, 1 / m), np.zeros((self.d + 1) * self.classes)
        lower, upper = -np.inf, np.inf
        for turn in range(40):
            v = self.minimise(v, q, 1e-9)
            below, above = self.bounds(v, q)
            lower, upper = max(lower, below), min(upper, above)
            print(f"  {turn}: {lower:.10f} {upper:.10f}", file=sys.stderr, flush=True)
            if upper - lower < 1e-8 * upper:
                break
            risks, value, _, hessian = self.evaluate(v, q)
            _, slope, _ = self.loss(self.scores(v))
            by_group = [self.back(self.share[:, [i]] * slope) for i in range(m)]
            moves = [self.inverse(v, q, hessian, g, 1e-8) for g in by_group]
            curve = np.array([[a @ b for b in moves] for a in by_group])
            step = newton_step(risks, (curve + curve.T) / 2, q)
            length = 1.0
            while True:  # D is concave: any rise will do near the optimum
                there = self.minimise(v, q + length * step, 1e-9)
                _, dual, _, _ = self.evaluate(there, q + length * step)
                if dual >= value - 1e-13 or length < 1e-4:
                    break
                length /= 2
            q, v = q + length * step, there
        return lower, upper, q


def newton_step(slope, curve, q):
    """The step d to the maximum of slope'd - d' curve d / 2, with q + d a distribution."""
    d = cp.Variable(len(q))
    values, vectors = np.linalg.eigh(curve)
    root = (vectors * np.sqrt(np.maximum(values, 0))).T
    gain = (slope - slope.mean()) @ d - cp.sum_squares(root @ d) / 2
    cp.Problem(cp.Maximize(gain), [q + d >= 0, cp.sum(d) == 0]).solve(solver=cp.CLARABEL)
    new = np.maximum(q + d.value, 0)
    return new / new.sum() - q


def squared(features, labels, groups, l2):
    """Squared losses by CLARABEL."""
    y = np.array(labels, float)
    w, b, top = cp.Variable(features.shape[1]), cp.Variable(), cp.Variable()
    scale = y.std() ** 2  # so that the risks are near 1
    risks, constraints = [], []
    for name in sorted(set(groups)):
        mine = np.array([g == name for g in groups])
        # Only the triangle of the group's rows matters to its sum of squares.
        rows = np.column_stack([features[mine], np.ones(mine.sum()), y[mine]]) / np.sqrt(mine.sum())
        triangle = np.linalg.qr(rows, mode="r") / np.sqrt(scale)
        residual = triangle[:, :-2] @ w + triangle[:, -2] * b - triangle[:, -1]
        constraints.append(cp.sum_squares(residual) <= top)
        risks.append((features[mine], y[mine]))
    problem = cp.Problem(cp.Minimize(top + l2 / 2 / scale * cp.sum_squares(w)), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == "optimal", problem.status
    q = np.array([np.ravel(c.dual_value)[0] for c in constraints])
    q = np.maximum(q, 0) / np.maximum(q, 0).sum()
    ridge = l2 / 2 * np.sum(w.value**2)
    upper = max(np.mean((x @ w.value + b.value - t) ** 2) for x, t in risks) + ridge
    # For the weights q of the groups, the best model is one linear system: its value is D(q).
    weight = np.zeros(len(y))
    for share, name in zip(q, sorted(set(groups))):
        mine = np.array([g == name for g in groups])
        weight[mine] = share / mine.sum()
    one = np.column_stack([features, np.ones(len(y))])
    penalty = np.diag(np.append(np.full(features.shape[1], l2 / 2), 0))
    best = np.linalg.solve(one.T @ (weight[:, None] * one) + penalty, one.T @ (weight * y))
    lower = weight @ (one @ best - y) ** 2 + best @ penalty @ best
    return lower, upper, q


def cones(features, labels, groups, l2):
    """Softmax by CLARABEL on exponential cones."""
    classes = sorted(set(labels))
    w, b = cp.Variable((features.shape[1], len(classes))), cp.Variable((1, len(classes)))
    scores = features @ w + np.ones((len(labels), 1)) @ b
    own = np.array([[label == c for c in classes] for label in labels], float)
    losses = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(own, scores), axis=1)
    shares = [np.array([g == name for g in groups], float) for name in sorted(set(groups))]
    top = cp.max(cp.hstack([s @ losses / s.sum() for s in shares]))
    problem = cp.Problem(cp.Minimize(top + l2 / 2 * cp.sum_squares(w)), [cp.sum(b) == 0])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal", problem.status
    return float(problem.value)


def read(data, name):
    if name in ("sentiment3", "youtube_spam"):
        return svmlight(f"{data}/{name}/{name}.svm.gz", f"{data}/{name}/{name}.groups.txt.gz")
    path = {
        "covtype20k": "covtype20k/covtype20k.csv.gz",
        "wine_quality": "wine_quality/wine.csv.gz",
        "communities_crime": "communities_crime/communities.csv.gz",
        "parkinsons_tele": "parkinsons_tele/parkinsons_updrs.csv.gz",
    }[name]
    what = {
        "covtype20k": ("cover_type", "wilderness", True, [], ["soil_type"]),
        "wine_quality": ("quality", "color", True, []),
        "communities_crime": (
            "ViolentCrimesPerPop",
            "state",
            False,
            ["county", "community", "communityname", "fold", *POLICE],
        ),
        "parkinsons_tele": ("total_UPDRS", "subject#", False, ["test_time", "motor_UPDRS"]),
    }[name]
    return table(f"{data}/{path}", *what)


SETS = {
    "wine_quality": (softmax, 1e-2),
    "communities_crime": (squared, 1e-2),
    "parkinsons_tele": (squared, 1e-2),
    "sentiment3": (logistic, 1e-2),
    "youtube_spam": (logistic, 1e-2),
    "covtype20k": (softmax, 1e-3),
}


def main():
    data, wanted = sys.argv[1], sys.argv[2:] or list(SETS)
    out = []
    for name in wanted:
        kind, l2 = SETS[name]
        print(name, file=sys.stderr, flush=True)
        features, labels, groups = read(data, name)
        if kind is squared:
            lower, upper, q = squared(features, labels, groups, l2)
        else:
            classes, loss = kind(labels)
            lower, upper, q = Game(features, groups, classes, loss, l2).solve()
        assert upper - lower <= 1e-6 * upper, (lower, upper)
        found = {"set": name, "loss": kind.__name__, "l2": l2, "rows": len(labels)}
        found |= {"features": features.shape[1], "lower": lower, "upper": upper}
        if name == "wine_quality":
            found["second"] = cones(features, labels, groups, l2)
        names = sorted(set(groups))
        found["weights"] = {g: round(float(x), 6) for g, x in zip(names, q) if x > 1e-6}
        out.append(found)
        print(json.dumps(found), file=sys.stderr, flush=True)
    print(json.dumps(out, indent=1))


main()
