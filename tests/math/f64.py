"""Writes f64.txt: results of the math functions with more digits than f64 has.

    python3 f64.py          (needs mpmath; gmpy2 makes it faster)

Arguments are edges of every function (neighbours of its zeros, poles, ends and the borders of its pieces), random
ones from a fixed seed, and those that are in the file already: an argument that was found to be bad is added by
hand, with any result, and stays. The form of the file is described in stored.rs.
"""

import math
import os
import random
import struct

import mpmath
from mpmath import mp, mpf

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "f64.txt")
INF, NAN, MAX, TINY = math.inf, math.nan, 1.7976931348623157e308, 5e-324
# Enough for the difference of 1 and the smallest number.
PREC = 1400
# sin, cos and tan are NaN from here on.
CIRCULAR_LIMIT = 2.0**48


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(n):
    return struct.unpack("<d", struct.pack("<Q", n))[0]


def near(*xs, steps=(1,)):
    """Numbers with their neighbours."""
    for x in xs:
        yield x
        for step in steps:
            up = down = x
            for _ in range(step):
                up, down = math.nextafter(up, INF), math.nextafter(down, -INF)
            yield up
            yield down


# Results.

def special(name, x):
    """The result where the argument or the result is special; None elsewhere."""
    if math.isnan(x):
        return NAN
    zero = x == 0.0
    odd = name in ODD
    if zero and (odd or name in ("expm1", "log1p", "sqrt")):
        return x
    at = {
        "exp": (1.0, INF, 0.0), "exp2": (1.0, INF, 0.0), "expm1": (None, INF, -1.0), "logistic": (0.5, 1.0, 0.0),
        "log": (-INF, INF, NAN), "log2": (-INF, INF, NAN), "log10": (-INF, INF, NAN), "log1p": (None, INF, NAN),
        "sqrt": (None, INF, NAN), "rsqrt": (None, 0.0, NAN), "cbrt": (None, INF, -INF),
        "sin": (None, NAN, NAN), "cos": (1.0, NAN, NAN), "tan": (None, NAN, NAN),
        "asin": (None, NAN, NAN), "acos": (None, NAN, NAN), "atan": (None, None, None),
        "sinh": (None, INF, -INF), "cosh": (1.0, INF, INF), "tanh": (None, 1.0, -1.0),
        "asinh": (None, INF, -INF), "acosh": (NAN, INF, NAN), "atanh": (None, NAN, NAN),
        "erf": (None, 1.0, -1.0), "erfc": (1.0, 0.0, 2.0), "erf_inv": (None, NAN, NAN),
        "lgamma": (INF, INF, INF), "digamma": (None, INF, NAN), "trigamma": (INF, 0.0, NAN),
    }[name]
    if zero and name in ("rsqrt", "digamma"):
        return math.copysign(INF, x if name == "rsqrt" else -x)
    if zero:
        return at[0]
    if math.isinf(x):
        return at[1] if x > 0 else at[2]
    if name in ("log", "log2", "log10", "sqrt", "rsqrt") and x < 0 or name == "log1p" and x < -1:
        return NAN
    if name == "log1p" and x == -1:
        return -INF
    if name in ("asin", "acos", "atanh", "erf_inv") and abs(x) > 1 or name == "acosh" and x < 1:
        return NAN
    if name in ("atanh", "erf_inv") and abs(x) == 1:
        return math.copysign(INF, x)
    if name in ("log", "log2", "log10", "acos", "acosh") and x == 1:
        return 0.0
    if name == "lgamma" and x in (1, 2):
        return 0.0
    if name in ("lgamma", "digamma", "trigamma") and x < 0 and x == math.floor(x):
        return NAN if name == "digamma" else INF
    return None


def erf_inv(x):
    if abs(x) < mpf(2) ** -100:
        return x * mp.sqrt(mp.pi) / 2
    return mp.erfinv(x)


def trigamma(x):
    """Recurrence and asymptotic series; `mp.psi` takes minutes for large arguments."""
    if x < 0:
        return (mp.pi / mp.sin(mp.pi * (x - mp.nint(x)))) ** 2 - trigamma(1 - x)
    total = mpf(0)
    while x < 60:
        total += 1 / x**2
        x += 1
    series = 1 / x + 1 / (2 * x**2)
    return total + series + mp.fsum(mp.bernoulli(2 * k) / x ** (2 * k + 1) for k in range(1, 40))


EXACT = {
    "exp": mp.exp, "exp2": lambda x: mpf(2) ** x, "expm1": mp.expm1, "logistic": lambda x: 1 / (1 + mp.exp(-x)),
    "log": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": mp.log1p, "sqrt": mp.sqrt, "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
    "erf": mp.erf, "erfc": mp.erfc, "erf_inv": erf_inv,
    "lgamma": lambda x: mp.re(mp.loggamma(x)), "digamma": mp.digamma, "trigamma": trigamma,
}
ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "erf", "erf_inv")
EVEN = ("cos", "cosh")


def word(n, width):
    return f"{n:0{width}x}".rstrip("0") or "0"


def encode(y):
    """The bits of a result towards zero, and eight more."""
    if isinstance(y, float):
        return word(bits(y) << 8, 18)
    sign = 1 if y < 0 else 0
    y = abs(y)
    if y == 0:
        raise ValueError("an exact zero is a special value")
    exponent = max(int(mp.floor(mp.log(y, 2))) - 1, -1022)
    while y >= mpf(2) ** (exponent + 1):
        exponent += 1
    if exponent > 1023:
        return word(bits(-INF if sign else INF) << 8, 18)
    digits = int(mp.floor(mp.ldexp(y, 52 - exponent + 8)))
    n = ((exponent + 1022) << 60) + digits
    return word((sign << 71) | n, 18)


def result(name, x):
    y = special(name, x)
    if y is not None:
        return encode(y)
    # Series converge slowly at full precision, and lose nothing by their nature.
    mp.prec = 320 if name in ("erf", "erfc", "erf_inv", "lgamma", "digamma", "trigamma") else PREC
    return encode(EXACT[name](mpf(x)))


def result2(name, x, y):
    special_values = (0.0, INF)
    if math.isnan(x) or math.isnan(y) or abs(x) in special_values or abs(y) in special_values:
        if name == "atan2":
            return encode(math.atan2(x, y)) if math.isnan(x) or math.isnan(y) or x == 0 and not y < 0 \
                or abs(y) == INF and abs(x) != INF and y > 0 else encode(exact_angle(x, y))
        return encode(power_special(x, y))
    mp.prec = PREC
    if name == "atan2":
        return encode(mp.atan2(mpf(x), mpf(y)))
    if x == 1:
        return encode(1.0)
    if x < 0 and y != math.floor(y):
        return encode(NAN)
    sign = -1 if x < 0 and y % 2 == 1 else 1
    log = mpf(y) * mp.log(mpf(abs(x)))
    if log > 800:
        return encode(sign * INF)
    if log < -800:
        return encode(sign * 0.0)
    return encode(sign * mp.exp(log))


def exact_angle(y, x):
    """atan2 on the axes and at infinity, where it is a multiple of π/4."""
    mp.prec = PREC
    if math.isinf(x) and math.isinf(y):
        quarters = 1 if x > 0 else 3
    elif y == 0 or math.isinf(x):
        quarters = 0 if math.copysign(1, x) > 0 else 4
    else:
        quarters = 2
    if quarters == 0:
        return math.copysign(0.0, y)
    return math.copysign(1, y) * quarters * mp.pi / 4


def power_special(x, y):
    """pow of C for a zero, an infinity or NaN among the arguments."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return NAN
    if math.isinf(y):
        if abs(x) == 1:
            return 1.0
        return INF if (abs(x) > 1) == (y > 0) else 0.0
    odd = y == math.floor(y) and y % 2 == 1
    sign = -1.0 if odd and math.copysign(1, x) < 0 else 1.0
    if x == 0:
        return sign * (0.0 if y > 0 else INF)
    return sign * (INF if y > 0 else 0.0)


# Arguments.

COMMON = [0.0, TINY, 2 * TINY, 2.0**-1022 - TINY, 2.0**-1022, 1e-300, 1e-200, 1e-100, 1e-30, 2.0**-60, 2.0**-53,
          2.0**-52, 2.0**-30, 2.0**-27, 2.0**-26, 1e-5, 0.001, 0.1, 1 / 3, 0.7, 1.2, 3.0, 5.0, 7.3, 10.0, 17.5, 30.0,
          100.0, 1e3, 1e5, 1e9, 2.0**52, 2.0**53, 1e30, 1e100, 1e200, 1e300, MAX, INF, NAN]


def circular():
    """The nearest numbers to multiples of π/2, at every exponent, and their neighbours."""
    mp.prec = PREC
    for k in [1, 2, 3, 4, 5, 6, 7, 8, 9, 22, 710, 2**20 + 1, 2**30 + 3, 2**40 + 7, 2**46 - 1]:
        yield from near(float(k * mp.pi / 2))
        yield float((k - mpf(1) / 2) * mp.pi / 2)
    # Convergents of 2^e 2/π: integers m with m 2^e next to a multiple of π/2.
    for e in range(-52, -4, 2):
        value = mpf(2) ** e * 2 / mp.pi
        low, high = 0, 1
        while True:
            whole = int(mp.floor(value))
            low, high = high, whole * high + low
            if high >= 2**53:
                break
            value = 1 / (value - whole)
        # `low` is now the largest denominator below 2^53.
        yield low * 2.0**e
    yield from near(CIRCULAR_LIMIT)


def exponentials(scale, ends):
    for k in (1, 2, 3, 10, 100, 500, 700, 1000):
        yield from near((k + 0.5) * scale)
        yield -(k + 0.5) * scale
        yield k * scale
    yield from near(*ends, steps=(1, 2))


def logarithms():
    for k in (-1074, -1060, -1022, -1021, -500, -2, -1, 0, 1, 2, 10, 500, 1023):
        yield 2.0**k
        if k > -1022:
            yield from near(2.0**k * math.sqrt(0.5))
    yield from near(1.0, steps=(1, 2, 5))
    for k in range(2, 52, 5):
        yield 1 + 2.0**-k
        yield 1 - 2.0**-k


def gamma():
    yield from near(1.0, 2.0, 8.0, 1.4616321449683622, 3.0, 4.0, 7.0, 16.0, 0.5, 2.5566346e305, steps=(1, 3))
    for n in (1, 2, 3, 4, 7, 8, 20, 170, 1000, 2**20, 2**51):
        yield from near(-float(n), steps=(1, 2))
        yield -n - 0.5
        yield -n + 0.25
    # Zeros between the integers, of lgamma and of digamma.
    yield from near(-2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.9552942848585979)
    yield from near(-0.5040830082644554, -1.5734984731623905, -2.6107208684441447, -3.6352933664369011)
    for k in range(1, 50, 4):
        yield 1 + 2.0**-k
        yield 2 - 2.0**-k


def unit_end():
    for k in range(1, 54, 2):
        yield 1 - 2.0**-k


EDGES = {
    "exp": lambda: exponentials(math.log(2), (709.782712893384, -745.1332191019411, -708.3964185322641, -744.44)),
    "exp2": lambda: exponentials(1.0, (1024.0, -1022.0, -1074.0, -1075.0, 0.5)),
    "expm1": lambda: exponentials(math.log(2), (709.782712893384, -37.43, 0.5, -0.5, 0.34657359027997264)),
    "logistic": lambda: exponentials(math.log(2), (36.7, -745.1332191019411, -708.3964185322641)),
    "log": logarithms, "log2": logarithms, "log10": logarithms,
    "log1p": lambda: [*near(-1.0, -0.5, -0.25, math.sqrt(2) - 1, math.sqrt(0.5) - 1, 1.0), *(-x for x in unit_end()),
                      *(2.0**-k for k in range(1, 60, 4)), *(-(2.0**-k) for k in range(1, 60, 4))],
    "sqrt": logarithms, "rsqrt": logarithms,
    "cbrt": lambda: [*logarithms(), *(float(n**3) for n in range(1, 20))],
    "sin": circular, "cos": circular, "tan": circular,
    "asin": lambda: [*near(0.5, 1.0, math.sqrt(0.5), steps=(1, 2)), *unit_end()],
    "acos": lambda: [s * x for s in (1, -1) for x in [*near(0.5, 1.0, math.sqrt(0.5), steps=(1, 2)), *unit_end()]],
    "atan": lambda: near(0.5, 1.0, 2.0, 2.4142135623730951, 0.41421356237309503, 2.0**26, steps=(1, 2)),
    "sinh": lambda: exponentials(math.log(2), (1.0, 710.4758600739439, 22.0)),
    "cosh": lambda: exponentials(math.log(2), (1.0, 710.4758600739439, 22.0)),
    "tanh": lambda: exponentials(math.log(2), (0.5, 18.7, 19.06, 20.0)),
    "asinh": lambda: near(0.5, 1.0, 2.0, 2.0**26, 2.0**27, 2.0**53, 2.0**511, 2.0**512, steps=(1, 2)),
    "acosh": lambda: [*near(1.0, 2.0, 2.0**27, 2.0**53, 2.0**512, steps=(1, 2, 3)), *(1 + 2.0**-k for k in range(52))],
    "atanh": lambda: [*near(0.5, 1.0, 1 / 3, steps=(1, 2)), *unit_end()],
    "erf": lambda: near(0.75, 1.0, 2.0, 4.0, 5.9, 5.95, 6.0, steps=(1, 2)),
    "erfc": lambda: near(0.75, -0.75, 1.0, 4.0, 6.0, 26.5, 26.543258, 27.2, 27.226, -5.8, -6.0, steps=(1, 2)),
    "erf_inv": lambda: [*near(0.5, math.sqrt(1 - math.exp(-6.25)), math.sqrt(1 - math.exp(-16)), 1.0, steps=(1, 2)),
                        *unit_end()],
    "lgamma": gamma, "digamma": gamma, "trigamma": gamma,
}

# Where random arguments are drawn from: uniformly between these, each as often.
RANGES = {
    "exp": [(-1, 1), (-710, 710), (-746, -700)], "exp2": [(-1, 1), (-1022, 1024), (-1075, -1000)],
    "expm1": [(-1, 1), (-40, 40), (0, 710)], "logistic": [(-3, 3), (-40, 40), (-745, -30)],
    "log": [(0.5, 2), (0, 100)], "log2": [(0.5, 2), (0, 100)], "log10": [(0.5, 2), (0, 100)],
    "log1p": [(-1, 1), (-0.1, 0.1), (0, 100)], "sqrt": [(0, 4)], "rsqrt": [(0, 4)], "cbrt": [(0, 8)],
    "sin": [(0, 1.6), (0, 100), (0, 1e6), (0, 2.0**48)], "cos": [(0, 1.6), (0, 100), (0, 1e6), (0, 2.0**48)],
    "tan": [(0, 1.6), (0, 100), (0, 1e6), (0, 2.0**48)],
    "asin": [(0, 1), (0.4, 0.6), (0.9, 1)], "acos": [(-1, 1), (-0.6, 0.6), (0.9, 1), (-1, -0.9)],
    "atan": [(0, 0.6), (0.4, 2.5), (0, 50)], "sinh": [(0, 1.2), (0, 30), (0, 710)],
    "cosh": [(0, 1.2), (0, 30), (0, 710)], "tanh": [(0, 1), (0, 20), (0, 0.1)],
    "asinh": [(0, 0.6), (0, 10)], "acosh": [(1, 1.1), (1, 3), (1, 100)], "atanh": [(0, 1), (0, 0.1), (0.9, 1)],
    "erf": [(0, 1.1), (0.9, 4), (0, 6)], "erfc": [(-1, 1), (0.7, 3), (0, 27), (-6, 0)],
    "erf_inv": [(0, 1), (0, 0.1), (0.99, 1), (0.9999, 1)],
    "lgamma": [(0, 3), (0.9, 2.1), (0, 20), (-20, 0), (0, 1e4)],
    "digamma": [(0, 3), (1, 2), (0, 20), (-20, 0), (0, 1e4)],
    "trigamma": [(0, 3), (1, 2), (0, 20), (-20, 0), (0, 1e4)],
}
# Draws from all magnitudes as well, unless most of them say nothing.
ANY_MAGNITUDE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "asinh", "acosh", "atan", "lgamma",
                 "digamma", "trigamma", "sin", "cos", "tan")
LINES = {name: 230 if name in ODD + EVEN else 420 for name in EXACT}
PAIRS = 420


def inside(name, x):
    symmetric = name in ODD + EVEN
    if symmetric and math.copysign(1, x) < 0:
        return False
    return not (name in ("sin", "cos", "tan") and abs(x) >= CIRCULAR_LIMIT and abs(x) != INF)


def arguments(name, kept):
    seen = {}

    def add(x):
        x = float(x)
        if math.isnan(x):
            x = NAN
        if inside(name, x):
            seen.setdefault(bits(x), x)

    for x in kept:
        add(x[0])
    for x in COMMON:
        add(x)
        add(-x)
    for x in EDGES[name]():
        add(x)
    draw = random.Random("tracewell " + name)
    ranges = RANGES[name]
    n = 0
    while len(seen) < LINES[name]:
        n += 1
        if name in ANY_MAGNITUDE and n % 4 == 0:
            top = 47 if name in ("sin", "cos", "tan") else 1023
            x = math.ldexp(1 + draw.random(), draw.randint(-60 if top == 47 else -1070, top))
            add(x if name != "acosh" or x >= 1 else 1 / x)
        else:
            add(draw.uniform(*ranges[n % len(ranges)]))
    return sorted(seen.values(), key=lambda x: (bits(x) >> 63, bits(x)))


def pairs(name, kept):
    seen = {}

    def add(x, y):
        x, y = float(x), float(y)
        seen.setdefault((bits(x), bits(y)), (x, y))

    for x, y in kept:
        add(x, y)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, -3.0, 2.5, INF, -INF, NAN]
    for x in values:
        for y in values:
            add(x, y)
    draw = random.Random("tracewell " + name)
    while len(seen) < PAIRS:
        kind = len(seen) % 4
        if name == "pow":
            base = math.ldexp(1 + draw.random(), draw.randint(-1022, 1023)) if kind < 2 else draw.uniform(0.1, 10)
            if kind == 3:
                base = 1 + (draw.random() - 0.5) * 2.0 ** -draw.randint(1, 40)
            log = math.log(base) or 1.0
            add(base, draw.uniform(-745, 709) / log)
            if kind == 2:
                add(-base, draw.randint(-300, 300))
        else:
            scale = math.ldexp(1.0, draw.randint(-1000, 1000)) if kind == 0 else 1.0
            add(scale * draw.uniform(-3, 3), scale * draw.uniform(-3, 3) * (1.0 if kind < 3 else 2.0**draw.randint(-60, 60)))
    return list(seen.values())


def read():
    """The arguments in the file, by function."""
    kept = {}
    if os.path.exists(FILE):
        name = None
        for line in open(FILE, encoding="ascii"):
            words = line.split()
            if words[0] == "#":
                name = words[1]
            else:
                kept.setdefault(name, []).append([from_bits(int(w.ljust(16, "0"), 16)) for w in words[:-1]])
    return kept


def main():
    kept = read()
    lines = []
    for name in EXACT:
        lines.append(f"# {name}" + (" odd" if name in ODD else " even" if name in EVEN else ""))
        for x in arguments(name, kept.get(name, [])):
            lines.append(f"{word(bits(x), 16)} {result(name, x)}")
    for name in ("pow", "atan2"):
        lines.append(f"# {name}")
        for x, y in pairs(name, kept.get(name, [])):
            lines.append(f"{word(bits(x), 16)} {word(bits(y), 16)} {result2(name, x, y)}")
    with open(FILE, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
