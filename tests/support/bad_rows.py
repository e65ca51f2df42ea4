"""Malformed lines among the rows of a file: the table of lines and messages."""

from itertools import accumulate

from fastsvm_cli import _native
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.messages import table, unescaped
from support.reading import rows_in

#: Bytes that LIBSVM takes in two ways.
NO_BLANKS = {"\r": "a carriage return", "\v": "a vertical tab", "\f": "a form feed"}


def _section(name):
    """(a good line, options of predict, line -> message) of a section of bad_rows.txt"""
    (good, options), *rows = table("bad_rows.txt", name)
    lines = {}
    for line, message in rows:
        for byte, found in NO_BLANKS.items() if message == "NO_BLANK" else [("", "")]:
            # A blank keeps a CR from being part of a line end.
            text = unescaped(line).replace("%", byte) + " " * (byte == "\r")
            inside = f"{found} found inside a row, expected blanks or tabs between words"
            lines[text] = inside if found else message
    return unescaped(good), [unescaped(option) for option in options.split()], lines


GROUPS = ("sparse", "dense", "blanks", "tabs", "unlabelled", "dense unlabelled", "scaled")
TABLE = {name: _section(name) for name in GROUPS}
SPARSE, SCALED = TABLE["sparse"][2], TABLE["scaled"][2]
RANGE = "y\n-100 100\n1 1.5\nx\n-100 100\n1 0 4\n2 0 1\n"
#: A few lines, one of each kind.
BAD = {line: SPARSE[line] for line in ("", "1 3:x", "1 3:1 2:1", "1 3:nan", "foo 1:1", "1,2 1:1", "1 2147483648:1")}


def options_of_reader(options):
    """Of the options of predict."""
    found = {"dense": True} if "--dense" in options else {}
    found |= {"labelled": False} if "--unlabelled" in options else {}
    return found | ({"delimiter": options[options.index("--delim") + 1]} if "--delim" in options else {})


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


def one_by_one(lines, dense=False, labelled=True, **options):
    """(rows, {row: [skipped lines before it, bad ones]}, [(line, message)]), each line parsed on its own"""
    rows, gaps, why, fields = [], {}, [], -1
    options |= {"dense": dense, "svmlight": not dense, "leading_count": int(labelled)}
    for number, line in enumerate(lines, 1):
        chunk, error, width, _ = _native.parse(line.encode() + b"\n", fields=fields, **options)
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


def bad_rows_seen():
    """An empty BadRows, which tells nobody."""
    return _native.BadRows(False, lambda problem: None)


def read_around(path, **options):
    """As one_by_one, with the first messages only."""
    found, position, rows, where, numbers, counted = bad_rows_seen(), Position(), [], {}, [], 0
    for chunk in read_chunks(str(path), bad_rows=found, place=position, **options):
        too_long = found.count - counted - sum(bad for _, _, bad in chunk.gaps)  # before the chunk's text
        counted = found.count
        for row, lines, bad in [(0, too_long, too_long)] * bool(too_long) + chunk.gaps:
            gap = where.setdefault(len(rows) + row, [0, 0])
            gap[0] += lines
            gap[1] += bad
        rows += rows_in(chunk)
        numbers += chunk.line_numbers(list(range(chunk.rows)))
        assert position.lines == len(rows) + found.count + position.comments
    content = path.read_bytes()
    assert position.offset == len(content) and found.count == sum(bad for _, bad in where.values())
    skipped = accumulate(where.get(row, [0])[0] for row in range(len(rows)))
    assert numbers == [row + before for row, before in enumerate(skipped, 1)]
    return rows, where, found.named


def too_long(longest):
    return f"a line of more than {longest / 1e6:g} MB found, expected a row (predict --max-line allows longer ones)"
