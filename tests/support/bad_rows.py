"""Malformed lines among the rows of a file: the table of lines and messages."""

from fastsvm_cli import _native
from fastsvm_cli.text.line_blocks import BadRows
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.messages import (
    BLANK,
    NUL,
    falling,
    no_label,
    no_number,
    no_pair,
    not_finite,
    reported,
    several_labels,
    too_far,
    too_large,
    too_small,
)
from support.reading import rows_in

#: Bytes that LIBSVM takes in two ways.
NO_BLANKS = {"\r": "a carriage return", "\v": "a vertical tab", "\f": "a form feed"}


def no_blanks(lines):
    """line -> message, with each of these bytes in place of %. A blank keeps a CR from being part of a line end."""
    return {
        line.replace("%", byte)
        + " " * (byte == "\r"): f"{name} found inside a row, expected blanks or tabs between words"
        for line in lines.split("|")
        for byte, name in NO_BLANKS.items()
    }


SPARSE = {
    **reported(
        no_pair,
        "1 {foo}|1 {3:x}|1 {3:}|1 {3:} 2:4|1 {3} :2|1 {:2}|1 2:1 {:3}|1 {1:2:3}|1 {1:2,2:3}|1 {1:2x}|1 {1:1e}|"
        "1 {1:1_000}|1 {1:1,5}|1 {1:.}|1 {1:-}|1 {1:--2}|1 {1:+-2}|1 {1:0x}|1 {1:0x-1}|1 {1:0x+1}|1 {1:0x1p}|"
        "1 1:2 {2}|1 {1.0:2}|1 {1e1:2}|1 {0x1:2}|1 {-1:2}|1 {-0:2}|1 {++1:2}|1 {qid:3.5} 1:2|1 {qid:3:4} 1:2|"
        "1 qid:3 {qid:4} 1:2|1 1:2 {qid:3}|1 {sid:3} 1:2|1 {1:2#c}",
    ),
    **reported(too_far, "1 {2147483648:1}|1 {4294967297:1}|1 {18446744073709551617:1}"),
    **reported(not_finite, "1 {3:nan}|1 {3:-NaN}|1 {3:nan(1)}|1 {3:inf}|1 {3:-Infinity}|{nan} 1:1|{inf} 1:1"),
    **reported(
        too_large, "1 {3:1e309}|1 {3:-1e309}|1 {3:0.1e400}|1 {3:00012e+400}|1 {3:0x1p1024}|1 {3:0x0.1p2000}|{1e999} 1:1"
    ),
    **reported(too_small, "1 {3:1e-400}|1 {3:2e-324}|1 {3:1000e-400}|1 {3:0.01e-350}|1 {3:0x1p-1080}|{1e-999} 1:1"),
    **reported(no_label, "{foo} 1:1|{+} 1:1|{1,2}|{1,2} 3|{1,2,} 1:1|{1,x} 1:1|{1#c}"),
    **reported(several_labels, "{1,2} 1:1|{-1,+2.5,3} qid:4|{324, 674, 54} 1:1"),
    **dict.fromkeys(["", " ", "\t "], BLANK),
    "1,\t3 qid:2 1:1": several_labels("1,?3"),
    "1 3:1 2:1": falling(2, 3),
    "1 3:1 3:1": falling(3, 3),
    "1 0:1 0:1": falling(0, 0),
    "1:2 3:4": f"{no_label('1:2')} (is the data unlabelled?)",
    " 1:1 2:3": f"{no_label('1:1')} (is the data unlabelled, or is this a multi-label line without labels?)",
    "\ufeff1 1:1": no_label("???1"),
    "1 é:1": no_pair("??:1"),
    "1 1:\x0012": no_pair("1:?12"),
    "1 1:12\x00": no_pair("1:12?"),
    "1\x00 1:12": no_label("1?"),
    "\x00": no_label("?"),
    "1 1:2 # \x00": NUL,
    "# a\x00b": NUL,
    "1 1:1 \x1b[31m": no_pair("?[31m"),
    "1 " + "x" * 1000: "'" + "x" * 40 + "...' found, expected index:value",
    **no_blanks("1 1:2%3:4|1 1:2 %3:4|1 1:2% 3:4|1 %1:2|1%1:2|1% 1:2|%1 1:2|1 1:%2|1 1%:2|1 1:2 %|1 1:2% |1% "),
}
DENSE = {
    "1,2": "1 values found, expected 2 as in the first row",
    "1,2,3,4": "3 values found, expected 2 as in the first row",
    "1": "0 values found, expected 2 as in the first row",
    **dict.fromkeys(["1,,3", "1,2,", "1, ,3"], "an empty field found, expected a number"),
    **dict.fromkeys([",2,3", ","], "an empty field found, expected a label"),
    **dict.fromkeys(["", " \t"], BLANK),
    **reported(no_label, "{y},2,3|{1;2;3}|{1} 1:2 2:3|{#} c"),
    **reported(no_number, '1,{x},3|1,2,{3x}|1,{"2"},3|1,{NA},3|1,2,{3} # c'),
    **reported(not_finite, "1,{nan},3|1,2,{-inf}"),
    "1,1e999,3": too_large("1e999"),
    "1,2,1e-999": too_small("1e-999"),
    "1,2\x00,3": no_number("2?"),
    **no_blanks("1,2%,3|1,%2,3"),
}
UNLABELLED = {
    **reported(no_pair, "{1} 1:2|qid:3 {qid:4}|1:2 {x}"),
    **no_blanks("1:2 %2:3"),
}
RANGE = "y\n-100 100\n1 1.5\nx\n-100 100\n1 0 4\n2 0 1\n"
SCALED = {
    "1 0:1 1:2": "index 0 found, which the range file does not hold, expected indices from 1",
    "1 1:1 2:1e308": f"{too_large('2:1e308')} once it is scaled",
    "1 2:1 1:1": falling(1, 2),
    "1e308 1:1": "a label found that the range file's y cannot scale, expected a finite result",
}
#: (a good line, options of predict, options of the reader, line -> message)
TABLE = {
    "sparse": ("1 1:1", [], {}, SPARSE),
    "dense": ("1,2,3", ["--dense"], {"dense": True}, DENSE),
    "blanks": ("1 2 3", ["--dense", "--delim", " "], {"dense": True, "delimiter": " "}, no_blanks("1 2%3")),
    "tabs": ("1\t2\t3", ["--dense", "--delim", "\t"], {"dense": True, "delimiter": "\t"}, {
        "1\t\t3": "an empty field found, expected a number", **no_blanks("1\t2%\t3")}),
    "unlabelled": ("1:1", ["--unlabelled"], {"labelled": False}, UNLABELLED),
    "dense unlabelled": ("2,3", ["--dense", "--unlabelled"], {"dense": True, "labelled": False}, {
        **reported(no_number, "{height},width"), **no_blanks("1%2,3")}),
    "scaled": ("1 1:1", ["--scale", "range"], {}, SCALED),
}  # fmt: skip

#: A few lines, one of each kind.
BAD = {line: SPARSE[line] for line in ("", "1 3:x", "1 3:1 2:1", "1 3:nan", "foo 1:1", "1,2 1:1", "1 2147483648:1")}


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
