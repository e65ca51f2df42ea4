"""The header of a model file: `key value...` lines, a grammar shared with LIBSVM."""

from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from math import isfinite

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError

SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")  # LIBSVM's order
KERNEL_TYPES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")

_NEEDS = {  # kernel_type -> the keys its formula needs
    "linear": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "precomputed": (),
}
_DENSITY_MARKS = 10
_LINEAR_WEIGHTS = "coef"  # ThunderSVM's: what the support vectors of a linear kernel add up to; nothing needs it
_SAME_TYPES = {"c_svr": "epsilon_svr"}  # PLSSVM's least squares regression, evaluated alike
#: Blanks to some programs, part of a word to others.
_CONTROLS = {"\r": "a carriage return", "\v": "a vertical tab", "\f": "a form feed"}


class Header:
    """What LIBSVM writes before the support vectors; a compiled model keeps these keys unchanged.

    svm_type, kernel_type: LIBSVM's words. degree, gamma, coef0: kernel parameters, 0 where the kernel has none.
    nr_class: classes; 2 for one-class and regression models. total_sv: support vectors. rho: (pairs). label: (nr_class)
    and nr_sv: (nr_class), the support vectors of each class, of classification models; else None. probA, probB: (pairs)
    or None. prob_density_marks: (10) or None.
    """

    def __init__(
        self,
        svm_type: str,
        kernel_type: str,
        *,
        nr_class: int,
        total_sv: int,
        rho: "list[float]",
        degree: int = 0,
        gamma: float = 0.0,
        coef0: float = 0.0,
        label: "list[int] | None" = None,
        probA: "list[float] | None" = None,
        probB: "list[float] | None" = None,
        prob_density_marks: "list[float] | None" = None,
        nr_sv: "list[int] | None" = None,
    ):
        self.svm_type, self.kernel_type = svm_type, kernel_type
        self.degree, self.gamma, self.coef0 = degree, gamma, coef0
        self.nr_class, self.total_sv, self.rho = nr_class, total_sv, rho
        self.label, self.nr_sv = label, nr_sv
        self.probA, self.probB, self.prob_density_marks = probA, probB, prob_density_marks

    @property
    def classification(self) -> bool:
        return self.svm_type in ("c_svc", "nu_svc")

    @property
    def elects(self) -> bool:
        """Whether an answer is one of at least two labels."""
        return (self.classification and self.nr_class > 1) or self.svm_type == "one_class"

    @property
    def regression(self) -> bool:
        return self.svm_type in ("epsilon_svr", "nu_svr")

    @property
    def pairs(self) -> int:
        """Decision functions: one per pair of classes, or one."""
        return len(self.rho)

    @property
    def class_pairs(self) -> "list[tuple[int, int, int]]":
        """(pair, i, j) of every decision function: as class_pairs(nr_class). (0, 0, 1) alone for one-class and
        regression models, whose decision function parts no classes."""
        return class_pairs(self.nr_class)

    @property
    def has_probability(self) -> bool:
        """svm_check_probability_model of LIBSVM."""
        if self.classification:
            return self.probA is not None and self.probB is not None
        return self.prob_density_marks is not None if self.svm_type == "one_class" else self.probA is not None

    def task(self) -> _native.Task:
        """What the native core needs to make predictions of decision values."""
        return _native.Task(
            SVM_TYPES.index(self.svm_type),
            self.label or [],
            self.probA or [],
            self.probB or [],
            self.prob_density_marks or [],
        )

    def lines(self) -> str:
        """LIBSVM's header, in its order, numbers as the shortest text that reads back to them."""
        rows: list[tuple[str, object]] = [("svm_type", self.svm_type), ("kernel_type", self.kernel_type)]
        rows += [(key, getattr(self, key)) for key in _NEEDS[self.kernel_type]]
        rows += [("nr_class", self.nr_class), ("total_sv", self.total_sv)]
        rows += [(key, getattr(self, key)) for key in ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")]
        return "".join(
            f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}".rstrip() + "\n"
            for key, value in rows
            if value is not None
        )


def class_pairs(nr_class: int) -> "list[tuple[int, int, int]]":
    """(pair, i, j) for all classes i < j, in LIBSVM's order: decision function `pair` is positive for class i, negative
    for class j."""
    return [(pair, i, j) for pair, (i, j) in enumerate(combinations(range(nr_class), 2))]


def read_libsvm_header(text: bytes, path: str) -> "tuple[Header, int]":
    """Read the header of a LIBSVM model as svm_load_model does: words, wherever lines end; of a key that occurs twice,
    the last values count. Two things beyond LIBSVM are read: ThunderSVM's key `coef` and PLSSVM's svm_type c_svr.

    Returns (header, offset after the line of the word SV). Raises ModelFormatError.
    """
    found: dict[str, list[tuple[list[str], int]]] = {}  # every occurrence of a key: its values, and its line
    values: list[str] = []  # of the latest key
    for words, line, stop in _lines(text, path, b"SV"):
        for at, word in enumerate(words):
            if word == "SV":
                found.pop(_LINEAR_WEIGHTS, None)
                for types, _ in found.get("svm_type", ()):
                    types[:] = [_SAME_TYPES.get(each, each) for each in types]
                return _assemble(found, path, line), stop
            if word in _READERS or word == _LINEAR_WEIGHTS:
                values = []
                found.setdefault(word, []).append((values, line))
            elif at == 0 and (values or not found) and word[0] not in "+-.0123456789":
                raise ModelFormatError(path, _unknown(word), line)
            else:
                values.append(word)
    raise AssertionError  # _lines ends at no other line


def read_header(
    text: bytes, path: str, *, end: bytes, own_keys: "Container[str]", offset: int, first_line: int
) -> "tuple[Header, dict[str, tuple[list[str], int]], int, int]":
    """Read the `key value...` lines of a compiled model, each key once, up to the line `end`.

    own_keys: keys beyond LIBSVM's that this kind of model has; returned as {key: (words, line)}.
    Returns (header, own, offset after the end line, its line number). Raises ModelFormatError.
    """
    found: dict[str, list[tuple[list[str], int]]] = {}
    own: dict[str, tuple[list[str], int]] = {}
    for words, line, stop in _lines(text, path, end, offset, first_line):
        if not words:
            raise ModelFormatError(path, "a blank line found, expected a key and its values", line)
        key = words[0]
        if key == end.decode():
            return _assemble(found, path, line), own, stop, line
        if key in found or key in own:
            raise ModelFormatError(path, f"key '{key[:40]}' found twice", line)
        if key in own_keys:
            own[key] = (words[1:], line)
        elif key in _READERS:
            found[key] = [(words[1:], line)]
        else:
            raise ModelFormatError(path, _unknown(key), line)
    raise AssertionError  # _lines ends at no other line


def _lines(
    text: bytes, path: str, end: bytes, offset: int = 0, line: int = 1
) -> "Iterator[tuple[list[str], int, int]]":
    """(words, line number, offset after it) of every line. Raises ModelFormatError, where the text ends, too: the
    reader stops at the word `end`."""
    while (stop := text.find(b"\n", offset)) >= 0:
        yield line_words(text[offset:stop], path, line), line, stop + 1
        offset, line = stop + 1, line + 1
    raise ModelFormatError(path, f"the file ends inside the header, expected a line '{end.decode()}'", line)


def _unknown(key: str) -> str:
    return f"unknown key '{key[:40]}'; is this another program's model?"


def line_words(line: bytes, path: str, number: int) -> "list[str]":
    """The words of a model file's line. line: with or without its line end, LF or CR LF; number: its own, for the
    message. Raises ModelFormatError."""
    if not line.isascii():
        raise ModelFormatError(path, "a byte that is not ASCII found", number)
    text = line.decode("ascii").removesuffix("\n").removesuffix("\r").replace("\t", " ")
    if not text.isprintable():
        odd = next(c for c in text if not c.isprintable())
        what = _CONTROLS.get(odd, "a control character")
        raise ModelFormatError(path, f"{what} found inside a line, expected blanks or tabs between words", number)
    return text.split()


def is_header_key(word: str) -> bool:
    """Whether a line of LIBSVM's header may begin with this word."""
    return word in _READERS


def one_word(words: "list[str]", key: str, path: str, line: int, choices: "Sequence[str] | None" = None) -> str:
    """The only one of the words behind a key; one of `choices`, where there are any. Raises ModelFormatError."""
    if len(words) != 1:
        raise ModelFormatError(path, f"{len(words)} values of '{key}' found, expected 1", line)
    if choices and words[0] not in choices:
        raise ModelFormatError(path, f"{key} '{words[0][:40]}' found, expected one of {', '.join(choices)}", line)
    return words[0]


def whole_number(word: str, key: str, path: str, line: int) -> int:
    """A word behind a key as a number that fits 32 bits with a sign. Raises ModelFormatError."""
    digits = word[1:] if word[:1] in ("+", "-") else word
    if digits.isdigit() and digits.isascii():
        digits = digits.lstrip("0") or "0"
        number = int(digits[:11]) * (-1 if word[0] == "-" else 1)  # more digits are too many anyway
        if -(2**31) <= number < 2**31:
            return number
    raise ModelFormatError(path, f"{key} '{word[:40]}' found, expected a whole number", line)


def real_number(word: str, key: str, path: str, line: int) -> float:
    """A word behind a key as a finite number. Raises ModelFormatError."""
    try:
        hexadecimal = word.lstrip("+-")[:2] in ("0x", "0X")  # as C's readers take it
        number = float.fromhex(word) if hexadecimal else float(word) if "_" not in word else float("nan")
    except (ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise ModelFormatError(path, f"{key} '{word[:40]}' found, expected a finite number", line)
    return number


def _word_of(choices):
    return lambda words, key, path, line: one_word(words, key, path, line, choices)


def _one(read):
    return lambda words, key, path, line: read(one_word(words, key, path, line), key, path, line)


def _list(read):
    return lambda words, key, path, line: [read(word, key, path, line) for word in words]


_READERS = {
    "svm_type": _word_of(SVM_TYPES),
    "kernel_type": _word_of(KERNEL_TYPES),
    "degree": _one(whole_number),
    "gamma": _one(real_number),
    "coef0": _one(real_number),
    "nr_class": _one(whole_number),
    "total_sv": _one(whole_number),
    "rho": _list(real_number),
    "label": _list(whole_number),
    "probA": _list(real_number),
    "probB": _list(real_number),
    "prob_density_marks": _list(real_number),
    "nr_sv": _list(whole_number),
}


def _assemble(found: "dict[str, list[tuple[list[str], int]]]", path: str, end_line: int) -> Header:
    for key in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if key not in found:
            raise ModelFormatError(path, f"the header ends without '{key}'", end_line)
    every = {
        key: [(_READERS[key](words, key, path, line), line) for words, line in times] for key, times in found.items()
    }
    values = {key: times[-1][0] for key, times in every.items()}
    lines = {key: times[-1][1] for key, times in every.items()}

    def demand(key: str, good: object, why: str) -> None:
        if not good:
            raise ModelFormatError(path, why, lines.get(key, end_line))

    nr_class = values["nr_class"]
    for number, line in every["nr_class"]:  # LIBSVM reads by the one what it uses by the other
        if number != nr_class:
            raise ModelFormatError(path, f"nr_class {number} found, and nr_class {nr_class} behind it", line)
    pairs = nr_class * (nr_class - 1) // 2
    counts = {"rho": pairs, "probA": pairs, "probB": pairs, "label": nr_class, "nr_sv": nr_class}
    header = Header(**values)
    if header.classification:
        demand("nr_class", nr_class >= 1, f"nr_class {nr_class} found, expected 1 or more")
    else:
        demand("nr_class", nr_class == 2, f"nr_class {nr_class} found, expected 2 for {header.svm_type}")
    for key, count in {**counts, "prob_density_marks": _DENSITY_MARKS}.items():
        what = "labels" if key == "label" else f"values of '{key}'"
        for numbers, line in every.get(key, ()):
            if len(numbers) != count:
                raise ModelFormatError(path, f"{len(numbers)} {what} found, expected {count}", line)
    for key in _NEEDS[header.kernel_type]:
        demand(key, key in values, f"the header ends without '{key}', which the {header.kernel_type} kernel needs")
    demand("degree", header.degree >= 0 or header.kernel_type != "polynomial", "a negative degree found")
    demand("total_sv", header.total_sv >= 0, "a negative number of support vectors found")
    if not header.classification:
        header.label = header.nr_sv = None  # as in models of RNAz; nothing depends on them
        return header
    demand("label", header.label is not None, "the header ends without 'label'")
    demand("nr_sv", header.nr_sv is not None, "the header ends without 'nr_sv'")
    assert header.nr_sv is not None
    demand(
        "nr_sv",
        min(header.nr_sv) >= 0 and sum(header.nr_sv) == header.total_sv,
        f"nr_sv adds up to {sum(header.nr_sv)}, expected total_sv {header.total_sv}",
    )
    demand("nr_class", nr_class > 1 or header.total_sv == 0, "support vectors found in a model of a single class")
    return header
