"""The algorithms in plain Python, written from the paper's boxes, on tiny data sets. Prints golden.json.

Nothing here is copied from the library: the generator is xoshiro256++ seeded by SplitMix64 (Blackman and Vigna), the
q-player works with q itself and a sorted projection, w with lists of floats.
"""
import json
import sys
from math import exp, log, log1p, sqrt

import steps as theory

MASK = (1 << 64) - 1


class Xoshiro:
    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = seed
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ (z >> 31))

    def next(self):
        s, rotl = self.s, lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result

    def unit(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, n):
        return (self.next() * n) >> 64


def streams(seed):
    root = Xoshiro(seed)
    return Xoshiro(root.next()), Xoshiro(root.next())


class Lcg:
    """Knuth's MMIX generator: numbers uniform on [-1, 1)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return (self.state >> 11) * 2.0**-52 - 1.0


def make_data(seed, rows, features, loss, sparse, groups):
    """Rows, then per row a target. Sparse rows: a value is dropped when another number is below 0."""
    lcg, x, y, weights = Lcg(seed), [], [], []
    for _ in range(rows):
        row = [lcg.next() for _ in range(features)]
        if sparse:
            row = [v if lcg.next() >= 0 else 0.0 for v in row]
        noise = lcg.next()
        score = row[0] - 0.5 * row[1] + 0.3 * noise
        if loss == "logistic":
            target = 1.0 if score >= 0 else -1.0
        elif loss == "squared":
            target = score
        else:
            target = 0.0 if score < -0.3 else 1.0 if score < 0.3 else 2.0
        x.append(row)
        y.append(target)
        weights.append(1.0 + lcg.next())
    return dict(x=x, y=y, weights=weights, groups=[list(range(a, b)) for a, b in groups])


def loss_and_slope(loss, scores, y):
    if loss == "logistic":
        z = y * scores[0]
        value = max(-z, 0.0) + log1p(exp(-abs(z)))
        return value, [-y / (1 + exp(z))]
    if loss == "squared":
        return (scores[0] - y) ** 2, [2 * (scores[0] - y)]
    total = sum(exp(s) for s in scores)
    slope = [exp(s) / total for s in scores]
    slope[int(y)] -= 1
    return log(total) - scores[int(y)], slope


def project_w(theta, shrink, domain, n_weights):
    w, b = [v / (1 + shrink) for v in theta[:n_weights]], theta[n_weights:]
    if domain["kind"] == "ball":
        norm = sqrt(sum(v * v for v in w))
        if norm > domain["radius"]:
            w = [v * domain["radius"] / norm for v in w]
    elif domain["kind"] == "cube":
        w = [min(max(v, domain["low"]), domain["high"]) for v in w]
    bound = domain.get("intercept")
    return w + [min(max(v, -bound), bound) for v in b]


def project_q(p, k):
    """argmin KL(q, p) over {q_i <= 1/k, sum = 1}: q_i = min(1/k, c p_i), by trying every number of capped entries."""
    m, cap = len(p), 1 / k
    order = sorted(range(m), key=lambda i: -p[i])
    for capped in range(m):
        rest = sum(p[i] for i in order[capped:])
        c = (1 - capped / k) / rest
        if c * p[order[capped]] <= cap * (1 + 1e-14):
            return [cap if rank < capped else c * p[i] for rank, i in sorted(enumerate(order), key=lambda t: t[1])]
    return [cap] * m


def dep_round(p, rng):
    """Pairs the fractional entry at hand with the next one."""
    p, held, fractional = list(p), None, lambda v: 1e-12 < v < 1 - 1e-12
    for j in range(len(p)):
        if not fractional(p[j]):
            continue
        if held is None:
            held = j
            continue
        i = held
        alpha, beta = min(1 - p[i], p[j]), min(p[i], 1 - p[j])
        if rng.unit() < beta / (alpha + beta):
            p[i], p[j] = p[i] + alpha, p[j] - alpha
        else:
            p[i], p[j] = p[i] - beta, p[j] + beta
        held = i if fractional(p[i]) else j if fractional(p[j]) else None
    return [i for i, v in enumerate(p) if v > 0.5]


def bisect(f, low, high):
    """A zero of a falling function."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return (low + high) / 2


def project_simplex(p):
    """The Euclidean projection: max(p_i - c, 0) with the c that makes the sum 1."""
    c = bisect(lambda c: sum(max(v - c, 0.0) for v in p) - 1, min(p) - 1, max(p))
    return [max(v - c, 0.0) for v in p]


def tsallis(sums, eta):
    """argmax <G, q> + (4/eta) sum sqrt(q_i): q_i = 4/(eta (x - G_i))^2."""
    q_of = lambda y: [4 / (y + eta * (max(sums) - g)) ** 2 for g in sums]
    q = q_of(bisect(lambda y: sum(q_of(y)) - 1, 2.0, 2 * sqrt(len(sums)) + 1))
    return [v / sum(q) for v in q]


def softmax(sums, eta):
    if eta == float("inf"):
        best = [g == max(sums) for g in sums]
        return [b / sum(best) for b in best]
    mass = [exp(eta * (g - max(sums))) for g in sums]
    return [v / sum(mass) for v in mass]


def run(case):
    loss, data, k, game = case["loss"], make_data(**case["data"]), case["k"], case["game"]
    outputs, d = (3 if loss == "softmax" else 1), case["data"]["features"]
    domain, T = case["domain"], case["rounds"]
    intercept = "intercept" in domain
    m = len(data["groups"])
    n_weights = d * outputs
    groups_rng, data_rng = streams(case["seed"])
    start = min(max(0.0, domain["low"]), domain["high"]) if domain["kind"] == "cube" else 0.0
    w = [start] * n_weights + [0.0] * (outputs if intercept else 0)
    q = [1 / m] * m
    c = case["constants"]
    name, anytime = case["algorithm"], case["anytime"]
    key = name + (" anytime" if anytime and name in ("smd-m", "online-1", "atkro-m") else "")
    eta_w, eta_q, gamma = theory.recipes(c["D2"], c["G"], c["L"], m, k, T, c["payoffs"], case["budgets"], c["kappa"],
                                         c["c"])[key]
    eta_w, eta_q, gamma = eta_w * case["step_w"], eta_q * case["step_q"], gamma * case["step_q"]
    low, high = c["payoffs"]
    nbar, queries, share = case.get("nbar"), case.get("queries"), min(gamma, 1.0)
    beta = sqrt(log(m) / (m * T))
    kept, sums, mixability = [], [0.0] * m, 0.0
    # Adaptive steps: the norm of all gradients and the largest distance from the start.
    norm, first_w = 0.0, list(w)
    travelled = 1e-4 * (1 + sqrt(sum(v * v for v in w)))
    own = [dict(w=list(w), sum=[0.0] * len(w), total=0.0) for _ in range(m)]
    own_step = sqrt(c["D2"]) / c["G"] * case["step_w"]
    samples, clipped = [0] * m, 0
    order = []
    if case["source"] == "once-each":
        shuffle_rng = Xoshiro(case["order_seed"])
        for rows in data["groups"]:
            rows = list(rows)
            for last in range(len(rows) - 1, 0, -1):
                other = shuffle_rng.below(last + 1)
                rows[last], rows[other] = rows[other], rows[last]
            order.append(rows)

    def draw(i):
        samples[i] += 1
        rows = data["groups"][i]
        if case["source"] == "once-each":
            return order[i][samples[i] - 1]
        if case["source"] == "weighted":
            target = data_rng.unit() * sum(data["weights"][r] for r in rows)
            total = 0.0
            for r in rows:
                total += data["weights"][r]
                if target < total:
                    return r
            return rows[-1]
        return rows[data_rng.below(len(rows))]

    def pull(i, w):
        """Payoff and payoff gradient of a fresh sample of group i."""
        return look(draw(i), i, w)

    def look(r, i, w):
        x = data["x"][r]
        scores = [sum(w[j * outputs + o] * x[j] for j in range(d)) for o in range(outputs)]
        if intercept:
            scores = [s + w[n_weights + o] for o, s in enumerate(scores)]
        value, slope = loss_and_slope(loss, scores, data["y"][r])
        p = game["scales"][i]
        grad = [p * x[j] * slope[o] for j in range(d) for o in range(outputs)]
        if intercept:
            grad += [p * s for s in slope]
        return p * (value - game["offsets"][i]), grad

    def draw_group(q):
        left = groups_rng.unit()
        for i in range(m):
            if left < q[i]:
                return i
            left -= q[i]
        return m - 1

    def shortfall(payoff):
        nonlocal clipped
        s = (high - payoff) / (high - low)
        if not 0 <= s <= 1:
            clipped += 1
        return min(max(s, 0.0), 1.0)

    def estimate(w, q, gamma, t=0):
        g_w, g_q = [0.0] * len(w), [0.0] * m

        def add(c, grad):
            for j, g in enumerate(grad):
                g_w[j] += c * g

        if name in ("smd-m", "atkro-m"):
            for i in range(m):
                g_q[i], grad = pull(i, w)
                add(q[i], grad)
        elif name == "smd-1":
            i = groups_rng.below(m)
            payoff, grad = pull(i, w)
            add(m * q[i], grad)
            g_q[i] = m * payoff
        elif name in ("online-1", "atkro-1"):
            i = draw_group(q)
            payoff, grad = pull(i, w)
            add(1.0, grad)
            g_q[i] = -shortfall(payoff) / (q[i] + gamma)
        elif name == "atkro-k":
            for i in dep_round([k * v for v in q], groups_rng):
                payoff, grad = pull(i, w)
                add(1 / k, grad)
                g_q[i] = -shortfall(payoff) / (k * q[i] + gamma)
        elif name == "smd-r":
            largest = max(case["budgets"])
            for i, n in enumerate(case["budgets"]):
                if groups_rng.unit() < n / largest:
                    if case["source"] == "once-each" and samples[i] == len(data["groups"][i]):
                        continue
                    g_q[i], grad = pull(i, w)
                    add(q[i], grad)
        elif name == "smd-m-single":
            chosen = draw_group(q)
            for i in range(m):
                g_q[i], grad = pull(i, w)
                add(1.0 if i == chosen else 0.0, grad)
        elif name == "smd-r-weighted":
            largest = max(case["budgets"])
            for i, n in enumerate(case["budgets"]):
                if groups_rng.unit() < n / largest:
                    if case["source"] == "once-each" and samples[i] == len(data["groups"][i]):
                        continue
                    payoff, grad = pull(i, w)
                    add(q[i] * largest / n, grad)
                    g_q[i] = payoff * largest / n
        elif name == "hybrid":
            for i, n in enumerate(case["budgets"]):
                if n < nbar:
                    if groups_rng.unit() < n / nbar:
                        g_q[i], grad = pull(i, w)
                        add(q[i], grad)
                    continue
                p, batch = (1 / sqrt(nbar) + 1) / (1 / sqrt(nbar) + sqrt(nbar / n)), n // nbar
                for _ in range(batch):
                    payoff, grad = pull(i, w)
                    add(q[i] * p / batch, grad)
                    g_q[i] += p * payoff / batch
        elif name == "smd-reuse":
            if (t - 1) % m == 0:
                kept[:] = [draw(i) for i in range(m)]
            add(1.0, pull(draw_group(q), w)[1])
            g_q = [look(r, i, w)[0] for i, r in enumerate(kept)]
        elif name == "smd-clip":
            add(1.0, pull(draw_group(q), w)[1])
            j = groups_rng.below(m)
            g_q[j] = min(m * pull(j, w)[0], 1 / eta_q)
        elif name == "exp3p":
            i = draw_group(q)
            payoff, grad = pull(i, w)
            add(1.0, grad)
            gain = 1 - shortfall(payoff)
            g_q = [(gain * (j == i) + beta) / q[j] for j in range(m)]
        elif name == "tinf":
            i = draw_group(q)
            payoff, grad = pull(i, w)
            add(1.0, grad)
            g_q[i] = -shortfall(payoff) / q[i]
        elif name in ("afl", "adaptive"):
            for i in range(m):
                g_q[i], grad = pull(i, w)
                add(q[i], grad)
        elif name == "mero":
            for i in range(m):
                r = draw(i)
                payoff, grad = look(r, i, w)
                add(q[i], grad)
                mine, eta = own[i], own_step / sqrt(t)
                mine["sum"] = [a + eta * v for a, v in zip(mine["sum"], mine["w"])]
                mine["total"] += eta
                g_q[i] = payoff - look(r, i, [a / mine["total"] for a in mine["sum"]])[0]
                # Its own gradient is that of the loss, without the scale of the game.
                slope = [v / game["scales"][i] for v in look(r, i, mine["w"])[1]]
                theta = [v - eta * g for v, g in zip(mine["w"], slope)]
                mine["w"] = project_w(theta, eta * game["ridge"], domain, n_weights)
        elif name == "flexible":
            r = queries[(t - 1) % len(queries)]
            order_of, first = list(range(m)), draw_group(q)
            order_of[0], order_of[first] = order_of[first], order_of[0]
            for at in range(1, r):
                other = at + groups_rng.below(m - at)
                order_of[at], order_of[other] = order_of[other], order_of[at]
            for i in order_of[:r]:
                asked = q[i] + (1 - q[i]) * (r - 1) / (m - 1)
                payoff, grad = pull(i, w)
                add(q[i] / asked, grad)
                g_q[i] = -shortfall(payoff) / (asked + gamma)
        elif name == "smpa-m":
            batches, scales = theory.batches_and_scales(case["budgets"])
            for i in range(m):
                for _ in range(batches[i]):
                    payoff, grad = pull(i, w)
                    add(q[i] * scales[i] / batches[i], grad)
                    g_q[i] += scales[i] * payoff / batches[i]
        return g_w, g_q

    def queried(t):
        """sum of m/r_s over s <= t."""
        return sum(m / queries[s % len(queries)] for s in range(t))

    def step(w, q, g, t):
        nonlocal norm, travelled, mixability, sums
        by = 1 / sqrt(t) if anytime else 1.0
        eta = eta_w * by
        if name == "flexible":
            eta = sqrt(c["D2"]) / c["G"] * case["step_w"] * by
        if name == "adaptive":
            norm = sqrt(norm**2 + sum(v * v for v in g[0]))
            eta = travelled / norm
        theta = [v - eta * gj for v, gj in zip(w, g[0])]
        w = project_w(theta, eta * game["ridge"], domain, n_weights)
        travelled = max(travelled, sqrt(sum((a - b) ** 2 for a, b in zip(w, first_w))))
        if name == "afl":
            return w, project_simplex([v + eta_q * gain for v, gain in zip(q, g[1])])
        if name in ("tinf", "flexible", "adaptive", "exp3p"):
            before = sums
            sums = [a + b for a, b in zip(sums, g[1])]
        if name == "tinf":
            return w, tsallis(sums, eta_q * by)
        if name == "flexible":
            return w, softmax(sums, sqrt(log(m) / queried(t)) * case["step_q"])
        if name == "exp3p":
            return w, [(1 - share) * v + share / m for v in softmax(sums, eta_q)]
        if name == "adaptive":
            rate = log(m) / mixability if mixability > 0 else float("inf")
            if mixability > 0:
                top = max(g[1])
                mix = top + log(sum(v * exp(rate * (gain - top)) for v, gain in zip(q, g[1]))) / rate
            else:
                mix = max(sums) - max(before)
            mixability += max(mix - sum(v * gain for v, gain in zip(q, g[1])), 0.0)
            return w, softmax(sums, log(m) / mixability if mixability > 0 else float("inf"))
        mass = [v * exp(eta_q * by * gain) for v, gain in zip(q, g[1])]
        return w, project_q(mass, k)

    ws, qs, omegas = [], [], []
    for t in range(1, T + 1):
        by = 1 / sqrt(t) if anytime else 1.0
        omega = by if case["average"] == "weighted" and name != "adaptive" else 1.0
        if name in ("smpa-m", "hybrid"):
            lead_w, lead_q = step(w, q, estimate(w, q, 0.0), t)
            ws.append(lead_w), qs.append(lead_q), omegas.append(omega)
            w, q = step(w, q, estimate(lead_w, lead_q, 0.0), t)
        else:
            ws.append(w), qs.append(q), omegas.append(omega)
            now = gamma * by
            if name == "flexible":
                now = sqrt(log(m) / queried(t)) * case["step_q"] / 2
            w, q = step(w, q, estimate(w, q, now, t), t)
    if name in ("smpa-m", "hybrid"):
        # The last iterates are the leads, of which the averages are made.
        w, q = ws[-1], qs[-1]
    first = T // 2 if case["average"] == "suffix" else 0
    total = sum(omegas[first:])
    mean = lambda vs: [sum(o * v[j] for o, v in zip(omegas[first:], vs[first:])) / total for j in range(len(vs[0]))]
    model, weights = (w, q) if case["average"] == "last" else (mean(ws), mean(qs))
    return dict(model=model, weights=weights, last_model=w, last_weights=q, samples=samples, clipped=clipped)


def cases():
    names = ["smd-m", "smd-1", "online-1", "smd-r", "smpa-m", "atkro-m", "atkro-k", "atkro-1", "smd-m-single",
             "smd-r-weighted", "hybrid", "smd-reuse", "smd-clip", "exp3p", "tinf", "afl", "mero", "flexible", "adaptive"]
    only_anytime = {"atkro-1", "tinf", "mero", "flexible", "adaptive"}
    has_anytime = {"smd-m", "online-1", "atkro-m"} | only_anytime
    groups = [(0, 120), (100, 160), (150, 200)]
    constants = dict(D2=1.5, G=2.0, L=0.75, payoffs=[0.0, 1.0], kappa=1.0, c=1.0)
    for name in names:
        for anytime in [False, True]:
            if (anytime and name not in has_anytime) or (name in only_anytime and not anytime):
                continue
            top_k = {"atkro-m": 1.5, "atkro-k": 2, "atkro-1": 2.25}.get(name, 1)
            common = dict(algorithm=name, anytime=anytime, rounds=50, k=top_k, budgets=[120, 60, 50], nbar=60,
                          queries=[1, 3, 2])
            # Players that find their own steps; a share of exploration that is not all, and estimates that stay small.
            factor = (lambda by: 1.0) if name == "adaptive" else (lambda by: by)
            factor_q = (lambda by: by / 20) if name in ("exp3p", "tinf") else factor
            plain = dict(scales=[1.0] * 3, offsets=[0.0] * 3, ridge=0.0)
            # Logistic, dense rows drawn with replacement, ball and intercept.
            yield dict(common, loss="logistic", data=dict(seed=1, rows=200, features=4, loss="logistic", sparse=False,
                       groups=groups), source="with-replacement", domain=dict(kind="ball", radius=0.8, intercept=0.25),
                       game=plain, constants=constants, step_w=factor(3.0), step_q=factor_q(8.0), seed=11,
                       average="weighted" if anytime else "uniform")
            # Squared, sparse weighted rows, whole space with a ridge, scales and offsets.
            yield dict(common, loss="squared", data=dict(seed=2, rows=200, features=5, loss="squared", sparse=True,
                       groups=groups), source="weighted", domain=dict(kind="free"),
                       game=dict(scales=[1.0, 0.5, 2.0], offsets=[0.1, -0.2, 0.0], ridge=0.3),
                       constants=dict(constants, payoffs=[-0.2, 0.9]), step_w=factor(2.0), step_q=factor_q(5.0), seed=12,
                       average="last" if anytime else "uniform")
            # Softmax, sparse rows once each, box and intercept; the second half of the rounds.
            yield dict(common, loss="softmax", data=dict(seed=3, rows=200, features=3, loss="softmax", sparse=True,
                       groups=groups), source="once-each", order_seed=5,
                       domain=dict(kind="cube", low=-0.3, high=0.2, intercept=0.1), game=plain,
                       constants=dict(constants, payoffs=[0.0, 1.5]), step_w=factor(4.0), step_q=factor_q(3.0), seed=13,
                       average="uniform" if anytime else "suffix", **({"rounds": 25} if name in ("smpa-m", "hybrid") else {}))


if __name__ == "__main__":
    table = []
    for case in cases():
        case = dict(case)
        table.append(dict(case=case, result=run(case)))
        result = table[-1]["result"]
        print(case["algorithm"], case["anytime"], case["loss"], result["samples"], result["clipped"],
              [round(v, 4) for v in result["model"]], [round(v, 4) for v in result["weights"]], file=sys.stderr)
    print(json.dumps(table, indent=1))
