"""Malformed lines among the rows of a file."""

from fastsvm_cli import _native
from fastsvm_cli.text.line_blocks import BadRows
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.messages import BLANK, falling, no_label, no_pair, not_finite, several_labels, too_far
from support.reading import rows_in

#: line -> message about it
BAD = {
    "": BLANK,
    "1 3:x": no_pair("3:x"),
    "1 3:1 2:1": falling(2, 3),
    "1 3:nan": not_finite("3:nan"),
    "foo": no_label("foo"),
    "1,2 3:1": several_labels("1,2"),
    "1 2147483648:1": too_far("2147483648:1"),
}


def spoil(lines, rng, bad=tuple(BAD)):
    """(text, [(line number, bad line)])"""
    out, where = [], []
    for line in [*lines, None]:
        while rng.random() < 0.4:
            where.append((len(out) + 1, rng.choice(bad)))
            out.append(where[-1][1] + "\n")
        if line is not None:
            out.append(line)
    return "".join(out), where


PRECOMPUTED = (
    "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    "1 0:1\n-1 0:3\n"
)


def one_by_one(lines, dense):
    """(rows, {row: [skipped lines before it, bad ones]}, [(line, message)]), each line parsed on its own"""
    rows, gaps, why, fields = [], {}, [], -1
    for number, line in enumerate(lines, 1):
        chunk, error, width, _ = _native.parse(line.encode() + b"\n", dense=dense, fields=fields, svmlight=not dense)
        rows += rows_in(chunk)
        if error is None:
            fields = width
        else:
            why.append((number, error[1]))
        if not chunk.rows:
            gap = gaps.setdefault(len(rows), [0, 0])
            gap[0] += 1
            gap[1] += error is not None
    return rows, gaps, why


def read_around(path, **options):
    """As one_by_one, with the first messages only."""
    found, position, rows, where = BadRows("data"), Position(), [], {}
    for chunk in read_chunks(str(path), bad_rows=found, place=position, **options):
        for row, lines, bad in found.gaps:
            gap = where.setdefault(len(rows) + row, [0, 0])
            gap[0] += lines
            gap[1] += bad
        rows += rows_in(chunk)
        list(found.fill(b"1\n" * chunk.rows, chunk.rows))
        assert position.lines == len(rows) + found.count + position.comments
    content = path.read_bytes()
    assert position.offset == len(content) and found.count == sum(bad for _, bad in where.values())
    return rows, where, found.named
