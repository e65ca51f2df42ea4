"""Damage to files, for fuzz.py."""

import random
import re

EXTREMES = [
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"2",
    b"3",
    b"7",
    b"1e308",
    b"-1e308",
    b"1.7976931348623157e308",
    b"1e-308",
    b"1e-320",
    b"5e-324",
    b"1e154",
    b"1e38",
    b"3.5e38",
    b"1e9",
    b"1e19",
    b"2147483647",
    b"2147483648",
    b"-2147483648",
    b"4294967295",
    b"4294967297",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551616",
    b"99999999999999999999999999",
    b"nan",
    b"-nan",
    b"inf",
    b"1e999",
    b"1e-999",
    b"0x1p-1074",
    b"0x1p1023",
    b"0x",
    b".",
    b"-",
    b"+",
    b"1e",
    b"00000000000000000001",
    b"0." + b"0" * 400 + b"1",
    b"1" * 400,
    b"",
    b"x",
    b"1:2",
    b":",
    b"#",
    b"qid:7",
    b"qid:",
    b"1,3",
    b"precomputed",
    b"linear",
]
BITS = [
    b"\0",
    b"\r",
    b"\v",
    b"\f",
    b"\t",
    b" ",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\xff",
    b"\xc3\xa9",
    b"\x1b[31m",
    b"#",
    b" # a:b",
    b"# a line\n",
    b"\n\t#",
    b" qid:9 ",
    b":",
    b",",
    b"end\n",
    b"SV\n",
    b"checksum 0\n",
    b"rank 1\n",
    b"kernel exponential 0.5\n",
    b"certified 3\n",
    b"features 1:2147483647\n",
    b"fastsvm_reduced 2 ",
    b"fastsvm_folded 2 ",
    b"raw_rows 0\n",
    b"range 3\n",
    b"y_range 1\n",
    b" 2147483647:-1e308",
    b"svm_type c_svc\n",
    b"kernel_type precomputed\n",
]


def damaged(text: bytes, others: "list[bytes]", rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(CHANGES)(text, others, rng)
    return text


def _position(text, rng):
    first = rng.randrange(len(text) + 1)
    return first, min(len(text), first + rng.choice((0, 1, 1, 1, 2, 4, 8, 40, 400)))


def truncate(text, others, rng):
    return text[: rng.randrange(len(text) + 1)]


def splice(text, others, rng):
    other = rng.choice(others)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def repeat(text, others, rng):
    first, last = _position(text, rng)
    return text[:first] + text[first:last] * rng.choice((2, 3, 10, 300)) + text[last:]


def flip(text, others, rng):
    out = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _insert(text, others, rng):
    first, last = _position(text, rng)
    return text[:first] + rng.choice(BITS + EXTREMES) + text[rng.choice((first, last)) :]


def remove(text, others, rng):
    first, last = _position(text, rng)
    return text[:first] + text[last:]


def _word(pattern):
    def change(text, others, rng):
        words = [match.span(1) for match in re.finditer(pattern, text)]
        if not words:
            return text
        first, last = rng.choice(words)
        word = text[first:last]
        if word.isdigit() and len(word) < 10 and rng.random() < 0.5:  # a count
            new = b"%d" % max(0, rng.choice((int(word) - 1, int(word) + 1, 2 * int(word), 0)))
        else:
            new = rng.choice(EXTREMES)
        return text[:first] + new + text[last:]

    return change


def _other_number(text, others, rng):
    """Replace a number by a similar one: most such files are still read."""
    words = [match.span() for match in re.finditer(rb"(?<![\w.])-?\d+\.\d+(e-?\d+)?(?![\w.])", text)]
    if not words:
        return text
    first, last = rng.choice(words)
    return (
        text[:first]
        + b"%r" % (float(text[first:last]) * rng.choice((-1, 0.5, 10, 1e10, 1e100, 1e-10, 0)))
        + text[last:]
    )


def _lines(text, others, rng):
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 1:
        del lines[a]
    elif what == 2:
        lines.insert(b, lines[a])
    else:
        other = rng.choice(others).splitlines(keepends=True) or [b""]
        lines[a] = rng.choice(other)
    return b"".join(lines)


def _line_ends(text, others, rng):
    return text.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\0\n")), rng.choice((-1, 1, 3)))


CHANGES = [truncate, splice, repeat, flip, flip, _insert, remove, _lines, _lines, _line_ends]
CHANGES += 6 * [_other_number] + 4 * [_word(rb"([^\s:,;]+)")] + 3 * [_word(rb"(?m)^[A-Za-z_]+ .*?([-+.\w]+)(?=\s|$)")]
