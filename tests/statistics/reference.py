"""Writes reference.json: what scipy says of the cases that tests/statistics.rs holds us to.

Made with Python 3.11.7, scipy 1.17.1 and numpy 2.4.6:

    python3 -m venv venv
    venv/bin/pip install scipy==1.17.1 numpy==2.4.6
    venv/bin/python tests/statistics/reference.py > tests/statistics/reference.json

The samples come from Python's own generator with a fixed seed, so the same versions write the
same bytes. Where scipy has no function (the exact test with ties beyond what it can enumerate,
the interval of the shift) the value is counted here in whole numbers, by the definition and
another way than the Rust does it, and held against scipy where that can be.
"""

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
from scipy import stats

RANDOM = random.Random(20251210)
CONFIDENCES = [0.9, 0.95, 0.99]


def sample(n, centre=0.0, spread=1.0, digits=None):
    values = [RANDOM.gauss(centre, spread) for _ in range(n)]
    return [round(v, digits) for v in values] if digits is not None else values


def exact_with_ties(a, b):
    """Twice the smaller tail over all ways to deal the values, as a polynomial in the sum of
    doubled ranks: the coefficient of x^n t^s of the product of (1 + x t^rank)."""
    doubled = [int(2 * r) for r in stats.rankdata(a + b)]
    observed, n = sum(doubled[: len(a)]), len(a)
    ways = {(0, 0): 1}
    for rank in doubled:
        more = dict(ways)
        for (count, total), many in ways.items():
            if count < n:
                key = (count + 1, total + rank)
                more[key] = more.get(key, 0) + many
        ways = more
    below = sum(w for (c, s), w in ways.items() if c == n and s <= observed)
    above = sum(w for (c, s), w in ways.items() if c == n and s >= observed)
    return float(min(Fraction(1), Fraction(2 * min(below, above), math.comb(len(a + b), n))))


def mann_whitney(a, b):
    tied = len(set(a + b)) < len(a + b)
    if len(a + b) > 60:
        return stats.mannwhitneyu(a, b, method="asymptotic").pvalue, "asymptotic"
    if not tied:
        p = stats.mannwhitneyu(a, b, method="exact").pvalue
        if len(a + b) <= 30:
            assert math.isclose(p, exact_with_ties(a, b), rel_tol=1e-11)
        return p, "exact"
    p = exact_with_ties(a, b)
    if min(len(a), len(b)) > 1 and math.comb(len(a + b), len(a)) <= 20_000:
        every = stats.PermutationMethod(n_resamples=np.inf)
        dealt = stats.mannwhitneyu(a, b, method=every).pvalue
        assert math.isclose(p, dealt, rel_tol=1e-9), (a, b, p, dealt)
    return p, "permutations"


def wins(n, m):
    """Ways to have U = 0, 1, ... wins: the recursion on which side the largest value is of."""
    table = {}
    for i in range(n + 1):
        for j in range(m + 1):
            row = [0] * (i * j + 1)
            if i == 0 or j == 0:
                row[0] = 1
            else:
                for u, many in enumerate(table[i - 1, j]):
                    row[u + j] += many
                for u, many in enumerate(table[i, j - 1]):
                    row[u] += many
            table[i, j] = row
    return table[n, m]


def shift_interval(a, b, confidence):
    outside = (1 - Fraction(str(confidence))) / 2
    n, m = len(a), len(b)
    ordered = sorted(y - x for y in b for x in a)
    if n + m > 60:
        z = stats.norm.isf(float(outside))
        k = math.floor(n * m / 2 - z * math.sqrt(n * m * (n + m + 1) / 12))
    else:
        k, below = 0, 0
        for many in wins(n, m):
            below += many
            if Fraction(below, math.comb(n + m, n)) > outside:
                break
            k += 1
    if k == 0:
        return None
    low, high = ordered[k - 1], ordered[n * m - k]
    if n + m <= 60 and len(set(a + b)) == n + m:
        nudge = 1e-7
        test = lambda shift: stats.mannwhitneyu([x + shift for x in a], b, method="exact").pvalue
        alpha = float(2 * outside) + 1e-9
        assert test(low - nudge) <= alpha < test(low + nudge)
        assert test(high - nudge) > alpha >= test(high + nudge)
    return [low, high]


def pairs():
    for n, m in [(1, 1), (1, 2), (1, 39), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 5), (5, 9),
                 (7, 3), (8, 8), (10, 10), (12, 20), (20, 11), (25, 25), (30, 30), (30, 1)]:
        yield sample(n), sample(m)
        yield sample(n), sample(m, centre=0.8)
    for n, m in [(3, 3), (5, 5), (10, 10), (30, 30)]:
        yield sample(n), sample(m, centre=1000.0)
        yield sample(n, centre=1000.0), sample(m)
    for n, m in [(1, 1), (2, 3), (3, 3), (4, 6), (5, 5), (6, 8), (9, 4), (12, 12), (20, 25),
                 (30, 30), (10, 30)]:
        yield sample(n, digits=0), sample(m, digits=0)
        yield sample(n, digits=0), sample(m, centre=1.5, digits=0)
        yield sample(n, digits=1), sample(m, digits=1)
    for n, m in [(1, 1), (3, 3), (5, 8), (30, 30), (40, 40)]:
        yield [7.25] * n, [7.25] * m
    equal = sample(6)
    yield equal, list(equal)
    yield equal, equal[::-1][:4]
    for n, m in [(31, 30), (40, 25), (60, 60), (100, 5)]:
        yield sample(n), sample(m)
        yield sample(n), sample(m, centre=1.0)
        yield sample(n, digits=0), sample(m, centre=0.5, digits=0)


def two_samples():
    for a, b in pairs():
        p, method = mann_whitney(a, b)
        yield {
            "a": a,
            "b": b,
            "p": float(p),
            "method": method,
            "hodges_lehmann": float(np.median([y - x for y in b for x in a])),
            "intervals": [[c, shift_interval(a, b, c)] for c in CONFIDENCES],
        }


def discovery():
    vectors = [[0.03], [1.0], [0.0, 1.0], [0.5] * 6, [0.01, 0.02, 0.03, 0.04, 0.05],
               [0.05, 0.04, 0.03, 0.02, 0.01], [0.001, 0.2, 0.2, 0.001, 0.04, 0.9]]
    for n in (2, 7, 40, 140):
        vectors.append([RANDOM.random() for _ in range(n)])
        vectors.append([round(RANDOM.random() ** 4, 2) for _ in range(n)])
    for p in vectors:
        yield {"p": p, "adjusted": [float(q) for q in stats.false_discovery_control(p)]}


def means():
    for n in range(3, 41):
        values = sample(n, centre=10.0, spread=0.02)
        for confidence in CONFIDENCES:
            error = np.std(values, ddof=1) / math.sqrt(n)
            low, high = stats.t.interval(confidence, n - 1, loc=np.mean(values), scale=error)
            yield {"values": values, "confidence": confidence, "low": float(low),
                   "high": float(high)}


def apart():
    for n in (3, 5, 6, 9, 20, 30):
        for far in (0, 1, 2):
            values = sample(n, centre=10.0, spread=0.05)
            for index in range(min(far, n)):
                values[index * 2] += RANDOM.choice([-1, 1]) * RANDOM.uniform(0.1, 0.6)
            mad = stats.median_abs_deviation(values)
            scores = 0.6745 * np.abs(np.array(values) - np.median(values)) / mad
            flagged = [bool(s > 3.5) for s in scores] if n >= 5 else [False] * n
            yield {"values": values, "flagged": flagged}


def series():
    for n in (1, 2, 3, 4, 5, 8, 19, 20, 21, 60, 301):
        for drift in (0.0, -3.0, 0.5):
            rates = [1000.0 + drift * i + RANDOM.gauss(0, 25) for i in range(n)]
            case = {"rates": rates, "lowest": min(rates), "halves": None, "slope": None,
                    "p5": float(np.percentile(rates, 5, method="inverted_cdf"))}
            if n >= 4:
                mean, half = np.mean(rates), n // 2
                case["halves"] = float((np.mean(rates[n - half:]) - np.mean(rates[:half])) / mean)
                fitted = stats.linregress(range(n), rates).slope * (n - 1)
                case["slope"] = float(fitted / mean)
            yield case


def least():
    for n, m in itertools.product([1, 2, 3, 4, 5, 10, 20, 30], repeat=2):
        apart = stats.mannwhitneyu(range(n), range(n, n + m), method="exact").pvalue
        yield {"n": n, "m": m, "p": float(apart)}


def main():
    parts = {"two_samples": two_samples, "least_p": least, "discovery": discovery,
             "means": means, "outliers": apart, "series": series}
    print("{")
    for number, (name, cases) in enumerate(parts.items()):
        lines = ",\n".join("  " + json.dumps(case) for case in cases())
        print(f' "{name}": [\n{lines}\n ]{"," if number + 1 < len(parts) else ""}')
    print("}")


main()
