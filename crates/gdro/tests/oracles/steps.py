"""Step sizes of every algorithm, typed from the paper (labels thm:1, thm:4, thm:5, thm:7, thm:8, thm:10 and the
equations of the anytime forms). Prints steps.json.

The paper has losses in [0, 1]. For payoffs in [L0, U], M = U - L0, the full-information players play the game divided
by M: its gradients are G/M and L/M, and a step on undivided gradients is the paper's step divided by M. The bandit
players see losses scaled to [0, 1], so that their eta_q and gamma are the paper's.
"""
import json
from math import log, sqrt


def thm1(D2, G, entropy, T):
    """eta_w, eta_q of thm:1 (entropy = ln m), thm:5 (T = n_1), thm:8 (entropy = ln(m/k))."""
    return (D2 * sqrt(8 / (5 * T * (D2 * G**2 + entropy))), entropy * sqrt(8 / (5 * T * (D2 * G**2 + entropy))))


def anytime1(D2, G, entropy, t):
    """eqn:alg1_anytime_stepsize, eqn:alg5_anytime_stepsize."""
    return (D2 * sqrt(2 / (t * (D2 * G**2 + entropy))), entropy * sqrt(2 / (t * (D2 * G**2 + entropy))))


def thm4(D, G, m, T):
    eta_q = sqrt(log(m) / (m * T))
    return (2 * D / (G * sqrt(5 * T)), eta_q, eta_q / 2)


def anytime2(D, G, m, t):
    """eqn:alg2_anytime_stepsize."""
    eta_q = sqrt(log(m) / (m * t))
    return (D / (G * sqrt(t)), eta_q, eta_q / 2)


def thm10(D, G, m, k, T):
    eta_q = sqrt(k * log(m) / (m * T))
    return (2 * D / (G * sqrt(5 * T)), eta_q, eta_q / 2)


def batches_and_scales(budgets):
    """Mini-batches n_i/n_m, rounded down where that is not an integer, and p_i of eqn:pi:mirror."""
    n_m = min(budgets)
    p = [(1 / sqrt(n_m) + 1) / (1 / sqrt(n_m) + sqrt(n_m / n)) for n in budgets]
    return [n // n_m for n in budgets], p


def thm7(D2, G, L, m, budgets, n_m, kappa, c):
    """n_m here is twice the number of rounds. A batch of b samples has the variance factor 1/b, which is the
    paper's n_m/n_i when that is an integer. The second term of L~ is D^2 G sqrt(ln m) for D >= 1 (as printed) and
    D G sqrt(ln m) for D < 1 (as its proof gives)."""
    batches, p = batches_and_scales(budgets)
    p_max = max(p)
    omega_max = max(pi**2 / b for pi, b in zip(p, batches))
    D = sqrt(D2)
    L_tilde = 2 * sqrt(2) * p_max * (D2 * L + (D2 if D >= 1 else D) * G * sqrt(log(m)))
    sigma2 = 2 * c * omega_max * (kappa * D2 * G**2 + log(m) ** 2)
    low = min(1 / (sqrt(3) * L_tilde), 2 / sqrt(7 * sigma2 * n_m))
    return (2 * D2 * low, 2 * low * log(m))


def hybrid(D2, G, L, m, budgets, nbar, T, kappa, c):
    """As thm7 with n-bar in the place of n_m; groups with n_i < n-bar have p_i = n_i/n-bar, drawn with that
    probability. Steps are for T rounds, so with 2T in the place of n_m under the root."""
    p, omega = [], 0.0
    for n in budgets:
        if n >= nbar:
            p.append((1 / sqrt(nbar) + 1) / (1 / sqrt(nbar) + sqrt(nbar / n)))
            omega = max(omega, p[-1] ** 2 / (n // nbar))
        else:
            p.append(n / nbar)
            omega = max(omega, p[-1] ** 2 * nbar / n)
    D = sqrt(D2)
    L_tilde = 2 * sqrt(2) * max(p) * (D2 * L + max(D, D2) * G * sqrt(log(m)))
    sigma2 = 2 * c * omega * (kappa * D2 * G**2 + log(m) ** 2)
    low = min(1 / (sqrt(3) * L_tilde), 2 / sqrt(7 * sigma2 * 2 * T))
    return (2 * D2 * low, 2 * low * log(m))


def afl(D2, G, m, T):
    """thm:1 with the Euclidean norm of q: D_q^2 = (1 - 1/m)/2, and |g_q|_2^2 <= m."""
    Dq2 = (1 - 1 / m) / 2
    root = sqrt(8 / (5 * T * (D2 * G**2 + Dq2 * m)))
    return (D2 * root, Dq2 * root)


def exp3p(D, G, m, T):
    """Bubeck and Cesa-Bianchi, Theorem 3.3; eta_w of thm:2."""
    return (2 * D / (G * sqrt(5 * T)), 0.95 * sqrt(log(m) / (m * T)), min(1.05 * sqrt(m * log(m) / T), 1))


def deviation(D2, G, M, m, n, delta):
    """Uniform deviation of the means of n samples: twice the Rademacher complexity G sqrt(2 D^2/n) of linear
    predictors after contraction, and McDiarmid with a union over m groups and two sides."""
    return 2 * G * sqrt(2 * D2 / n) + M * sqrt(log(2 * m / delta) / (2 * n))


def recipes(D2, G, L, m, k, T, payoffs, budgets, kappa, c):
    """All recipes as (eta_w, eta_q, gamma); those of anytime forms at t = 1."""
    D, M = sqrt(D2), payoffs[1] - payoffs[0]
    full = lambda steps: [steps[0] / M, steps[1] / M, 0.0]
    # On payoffs divided by M the gradients of w are divided by M as well; its player moves by eta g / M.
    bandit = lambda steps: [steps[0] / M, steps[1], steps[2]]
    out = {
        "smd-m": full(thm1(D2, G / M, log(m), T)),
        "smd-m anytime": full(anytime1(D2, G / M, log(m), 1)),
        "smd-1": [v / m for v in full(thm1(D2, G / M, log(m), T))],
        "online-1": bandit(thm4(D, G / M, m, T)),
        "online-1 anytime": bandit(anytime2(D, G / M, m, 1)),
        "smd-r": full(thm1(D2, G / M, log(m), T)),
        "smpa-m": full(thm7(D2, G / M, L / M, m, budgets, 2 * T, kappa, c)),
        "atkro-m": full(thm1(D2, G / M, log(m / k), T)),
        "atkro-m anytime": full(anytime1(D2, G / M, log(m / k), 1)),
        "atkro-1": bandit(anytime2(D, G / M, m, 1)),
    }
    out |= {
        "smd-m-single": out["smd-m"],
        "smd-reuse": out["smd-m"],
        "smd-r-weighted": [v * min(budgets) / max(budgets) for v in out["smd-r"]],
        "hybrid": full(hybrid(D2, G / M, L / M, m, budgets, sorted(budgets)[m // 2], T, kappa, c)),
        "afl": full(afl(D2, G / M, m, T)),
        "mero": full(anytime1(D2, G / M, log(m), 1)),
        # Losses up to M have second moments up to m M^2.
        "smd-clip": [2 * D / (G * sqrt(5 * T)), sqrt(log(m) / (m * T * M**2)), 0.0],
        "exp3p": bandit(exp3p(D, G / M, m, T)),
        "tinf": bandit((D / (G / M), 2.0, 0.0)),
        # The third round of a list of 2, m, 1, …: the sum of m/r_s is m/2 + 1 + m.
        "flexible": bandit((D / (G / M * sqrt(3)), sqrt(log(m) / (m / 2 + 1 + m)), sqrt(log(m) / (m / 2 + 1 + m)) / 2)),
        "eliminate": bandit(thm4(D, G / M, m, T)),
        "adaptive": [1.0, 1.0, 0.0],
    }
    if k == int(k):
        out["atkro-k"] = bandit(thm10(D, G / M, m, k, T))
    return out


SETTINGS = [
    # The first synthetic set with B = 5; n_i/n_m are integers.
    dict(D2=12.5, G=sqrt(1000), L=250.0, m=20, k=3, T=10000, payoffs=[0.0, 1.0],
         budgets=[8000] * 5 + [4000] * 10 + [2000] * 5, kappa=1.0, c=1.0),
    # Example 1.
    dict(D2=0.5, G=2.0, L=2.0, m=16, k=5, T=500, payoffs=[0.0, 1.0], budgets=[900] * 8 + [300] * 8, kappa=1.0, c=2.0),
    # Adult's budgets, payoffs not in [0, 1].
    dict(D2=3.25, G=7.5, L=1.5, m=6, k=2, T=182, payoffs=[-0.5, 3.5], budgets=[26656, 11519, 1780, 1720, 999, 364],
         kappa=3.0, c=0.25),
    # A real k; smoothness dominates SMPA.
    dict(D2=40.0, G=0.3, L=500.0, m=9, k=2.75, T=77, payoffs=[0.0, 0.125], budgets=[64, 48, 32, 32, 32, 16, 16, 16, 16],
         kappa=1.0, c=1.0),
]

if __name__ == "__main__":
    table = []
    for s in SETTINGS:
        batches, scales = batches_and_scales(s["budgets"])
        table.append({"setting": s, "batches": batches, "scales": scales, "steps": recipes(**s),
                      "deviation": deviation(s["D2"], s["G"], s["payoffs"][1] - s["payoffs"][0], s["m"], 50, 0.05)})
    print(json.dumps(table, indent=1))
