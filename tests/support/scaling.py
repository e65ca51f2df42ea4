"""svm-scale 3.37 reimplemented, and data to scale."""

import random

import numpy as np
from libsvm.svmutil import svm_read_problem

from fastsvm_cli.text.read_rows import read_bytes, read_chunks
from fastsvm_cli.text.scaling import parse_scaling
from support.paths import DATA
from support.processes import outcome
from support.training import train_on


def to_six_digits(value):
    return float(f"{value:g}")


def _moved(value, low, high, lower, upper):
    if value == low:
        return lower
    if value == high:
        return upper
    return lower + (upper - lower) * (value - low) / (high - low)


def scaled_text(ranges, text):
    """As `svm-scale -r`. ranges: text of a file of -s; text: well-formed rows, indices from 1."""
    words = ranges.split()
    y = None
    if words[0] == "y":
        y, words = [float(word) for word in words[1:5]], words[5:]
    assert words[0] == "x"
    lower, upper = float(words[1]), float(words[2])
    features = {
        int(index): (float(low), float(high)) for index, low, high in zip(words[3::3], words[4::3], words[5::3])
    }
    out = []
    for line in text.splitlines():
        label, *pairs = line.partition("#")[0].split()
        label = float(label)
        if y is not None:
            label = _moved(label, y[2], y[3], y[0], y[1])
        row = {int(index): float(value) for index, value in (pair.split(":") for pair in pairs)}
        scaled = []
        for index, (low, high) in sorted(features.items()):
            value = _moved(row.get(index, 0.0), low, high, lower, upper) if low != high else 0.0
            if value != 0:
                scaled.append(f"{index}:{value:g} ")
        out.append(f"{label:.17g} {''.join(scaled)}\n")
    return "".join(out)


def run_svm_scale(program, folder, *options):
    """(standard output, standard error)"""
    done = outcome([program, *map(str, options)], cwd=folder, check=True)
    return done.stdout, done.stderr


def contents(chunks):
    """All that a model sees of chunks, bit for bit."""
    out = []
    for chunk in chunks:
        starts, indices, norms = chunk.indptr.tolist(), chunk.indices.tolist(), chunk.squared_norms.tolist()
        values = [number.hex() for number in chunk.values.tolist()]
        for row, label in enumerate(chunk.leading.tolist()):
            part = slice(starts[row], starts[row + 1])
            out.append(([number.hex() for number in label], indices[part], values[part], norms[row].hex()))
    return out


def read_scaling(path):
    """path: a range file."""
    return parse_scaling(read_bytes(str(path)), str(path))


def read_scaled(data, ranges, **options):
    """Rows scaled while they are read, and the Scaling."""
    scaling = read_scaling(ranges)
    return contents(read_chunks(str(data), scaling=scaling, **options)), scaling


def read_plain(data):
    return contents(read_chunks(str(data)))


def raw_rows(path, rows, seed=0, shift=True):
    """Rows of a file, each feature stretched and, if `shift`, moved."""
    rng = random.Random(seed)
    with open(path) as file:
        lines = [line for line in file if line.strip()]
    out = []
    for line in rng.sample(lines, min(rows, len(lines))):
        label, *pairs = line.split()
        entries = []
        for pair in pairs:
            index, value = pair.split(":")
            moved = float(value) * (1 + int(index) * 0.37) + (int(index) % 3 if shift else 0)
            entries.append(f"{index}:{moved:.10g}")
        out.append(" ".join([label, *entries]) + "\n")
    return "".join(out)


def unrounded(ranges, rows):
    """Rows scaled in extended precision. ranges: text of svm-scale -s, or of R's write.svm."""
    words, out = ranges.split(), []
    if words[0] == "x":
        lower, upper = np.longdouble(words[1]), np.longdouble(words[2])
        ends = zip(map(int, words[3::3]), map(np.longdouble, words[4::3]), map(np.longdouble, words[5::3]))
        lines = {
            i: ((upper - lower) / (high - low), lower - (upper - lower) * low / (high - low))
            for i, low, high in ends
            if low != high
        }
    else:
        pairs = list(zip(map(np.longdouble, words[::2]), map(np.longdouble, words[1::2])))
        lines = {i: (1 / scale, -center / scale) for i, (center, scale) in enumerate(pairs, 1)}
    for row in rows:
        scaled = {i: slope * np.longdouble(row.get(i, 0.0)) + offset for i, (slope, offset) in lines.items()}
        out.append({i: value for i, value in scaled.items() if value})
    return out


def scaled_folder(folder):
    """Write rows, a range file, scaled rows and a model of these to the folder."""
    text = raw_rows(DATA / "rings.train", 300, seed=3)
    (folder / "rows").write_text(text)
    _, rows = svm_read_problem(str(folder / "rows"))
    columns = {i: [row[i] for row in rows if i in row] for i in sorted(set().union(*rows))}
    ranges = "x\n0 1\n" + "".join(f"{i} {min(values)!r} {max(values)!r}\n" for i, values in columns.items())
    (folder / "range").write_text(ranges)
    (folder / "scaled").write_text(scaled_text(ranges, text))
    train_on(folder / "model", folder / "scaled", "-g 0.5 -c 10")
    return folder
