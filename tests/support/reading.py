"""The reader's results as lists."""

import bz2
import gzip
import lzma
import re
from array import array

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.text.read_rows import Position, read_chunks

COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def rows_in(chunk):
    """[(first number or None, [(index, value)])]"""
    labels, starts, indices, values = (
        view.tolist() for view in (chunk.leading, chunk.indptr, chunk.indices, chunk.values)
    )
    assert len(starts) == chunk.rows + 1 and starts[0] == 0 and starts[-1] == len(indices) == len(values)
    return [
        (labels[r][0] if labels[r] else None, list(zip(indices[a:b], values[a:b])))
        for r, (a, b) in enumerate(zip(starts, starts[1:]))
    ]


UNLIMITED = 1 << 24
SIZES = (1, 7, 4096, UNLIMITED)


def parse(text, **options):
    """Rows, and the error as (line, words) or None."""
    chunk, error, _, _ = _native.parse(text if isinstance(text, bytes) else text.encode(), **options)
    return rows_in(chunk), error


def read(path, **options):
    """All rows of a file, and the message that ended them, or None."""
    rows, lines = [], 0
    try:
        for chunk in read_chunks(str(path), place=(position := Position()), **options):
            assert chunk.rows > 0 and lines < chunk.first_line <= position.lines
            rows, lines = rows + rows_in(chunk), position.lines
            assert lines == len(rows) + position.comments
    except FastsvmError as error:
        return rows, str(error)
    return rows, None


def bits(numbers):
    return array("d", numbers).tobytes()


NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def plain_rows(text):
    """An independent reader: the rows before the first error, and its line or None."""
    rows, lines = [], text.split("\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, 1):
        if line.lstrip(" \t").startswith("#"):
            continue
        line = re.sub(rf"^([ \t]*{NUMBER}[ \t]+)qid:[+-]?[0-9]+(?=[ \t\r]|$)", r"\1", line)
        words = re.sub(r"(?<=[ \t\r])#.*", "", line, flags=re.DOTALL).split()
        pairs = [re.fullmatch(rf"\+?(\d+):({NUMBER})", word, re.ASCII) for word in words[1:]]
        if not words or not re.fullmatch(NUMBER, words[0], re.ASCII) or not all(pairs):
            return rows, number
        entries = [(int(pair[1]), float(pair[2])) for pair in pairs]
        indices = [index for index, _ in entries]
        if indices != sorted(set(indices)) or max(indices, default=0) >= 2**31:
            return rows, number
        rows.append((float(words[0]), entries))
    return rows, None


def random_text(rng, rows, indices=60, comments=True):
    lines = []
    for _ in range(rows):
        chosen = sorted(rng.sample(range(indices), rng.randint(0, 12)))
        line = " ".join(
            [str(rng.choice([1, -1, 3])), *(f"{i}:{rng.gauss(0, 1):.{rng.randint(1, 17)}g}" for i in chosen)]
        )
        lines.append(line + (rng.choice(["", "", " # 1:2 3:4 :::", "\r"]) if comments else "") + "\n")
    return "".join(lines)


_COMMENTS = ["#\n", "# 1 1:0.5\n", "#1:2\n", " \t# qid:3\n", "# 1,2 3:4\r\n"]


def dressed(lines, rng, share=0.3):
    """Rows with SVMlight's comments and qid, and their line numbers."""
    out, numbers = ["# written by\n"], []
    for line in lines:
        while rng.random() < share:
            out.append(rng.choice(_COMMENTS))
        label, blank, rest = line.removesuffix("\n").partition(" ")  # a row without entries has no blank
        out.append(f"{label} qid:{rng.choice((0, 7, -1, 10**30))}{blank}{rest}\n" if rng.random() < share else line)
        numbers.append(len(out))
    return "".join([*out, rng.choice(_COMMENTS)]), numbers


SAMPLE = "1 1:0.5 2:0.25\n-1 3:1 # c\n1\n" + "".join(f"1 {i}:{i}.5\n" for i in range(1, 40))
