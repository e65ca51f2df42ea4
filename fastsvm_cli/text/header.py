"""The header of a model file: `key value...` lines, a grammar shared with LIBSVM."""

from collections.abc import Container, Sequence
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


def read_header(
    text: bytes, path: str, *, end: bytes, own_keys: "Container[str]" = (), offset: int = 0, first_line: int = 1
) -> "tuple[Header, dict[str, tuple[list[str], int]], int, int]":
    """Read `key value...` lines up to the line `end`.

    own_keys: keys beyond LIBSVM's that this kind of model has; returned as {key: (words, line)}.
    Returns (header, own, offset after the end line, its line number). Raises ModelFormatError.
    """
    found: dict[str, tuple[list[str], int]] = {}
    own: dict[str, tuple[list[str], int]] = {}
    line = first_line - 1
    while True:
        stop = text.find(b"\n", offset)
        line += 1
        if stop < 0:
            raise ModelFormatError(path, f"the file ends inside the header, expected a line '{end.decode()}'", line)
        words = line_words(text[offset:stop], path, line)
        offset = stop + 1
        if not words:
            raise ModelFormatError(path, "a blank line found, expected a key and its values", line)
        key = words[0]
        if key == end.decode():
            break
        if key in found or key in own:
            raise ModelFormatError(path, f"key '{key[:40]}' found twice", line)
        if key in own_keys:
            own[key] = (words[1:], line)
        elif key in _READERS:
            found[key] = (words[1:], line)
        else:
            raise ModelFormatError(path, f"unknown key '{key[:40]}'; is this another program's model?", line)
    return _assemble(found, path, line), own, offset, line


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


def _assemble(found: dict, path: str, end_line: int) -> Header:
    for key in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if key not in found:
            raise ModelFormatError(path, f"the header ends without '{key}'", end_line)
    values = {key: _READERS[key](words, key, path, line) for key, (words, line) in found.items()}
    lines = {key: line for key, (_, line) in found.items()}

    def demand(key: str, good: object, why: str) -> None:
        if not good:
            raise ModelFormatError(path, why, lines.get(key, end_line))

    header = Header(**{key: values[key] for key in values})
    for key in _NEEDS[header.kernel_type]:
        demand(key, key in values, f"the header ends without '{key}', which the {header.kernel_type} kernel needs")
    demand("degree", header.degree >= 0, "a negative degree found")
    demand("total_sv", header.total_sv >= 0, "a negative number of support vectors found")
    if header.classification:
        demand("nr_class", header.nr_class >= 1, f"nr_class {header.nr_class} found, expected 1 or more")
        demand("label", header.label is not None, "the header ends without 'label'")
        demand("nr_sv", header.nr_sv is not None, "the header ends without 'nr_sv'")
        assert header.label is not None and header.nr_sv is not None
        demand(
            "label",
            len(header.label) == header.nr_class,
            f"{len(header.label)} labels found, expected {header.nr_class}",
        )
        demand(
            "nr_sv",
            len(header.nr_sv) == header.nr_class,
            f"{len(header.nr_sv)} values of 'nr_sv' found, expected {header.nr_class}",
        )
        demand(
            "nr_sv",
            min(header.nr_sv) >= 0 and sum(header.nr_sv) == header.total_sv,
            f"nr_sv adds up to {sum(header.nr_sv)}, expected total_sv {header.total_sv}",
        )
        demand(
            "nr_class",
            header.nr_class > 1 or header.total_sv == 0,
            "support vectors found in a model of a single class",
        )
    else:
        demand("nr_class", header.nr_class == 2, f"nr_class {header.nr_class} found, expected 2 for {header.svm_type}")
        demand("nr_sv", header.nr_sv is None, f"'nr_sv' found in a model of type {header.svm_type}")
    pairs = header.nr_class * (header.nr_class - 1) // 2
    for key in ("rho", "probA", "probB"):
        if key in values:
            demand(key, len(values[key]) == pairs, f"{len(values[key])} values of '{key}' found, expected {pairs}")
    if header.prob_density_marks is not None:
        demand(
            "prob_density_marks",
            len(header.prob_density_marks) == _DENSITY_MARKS,
            f"{len(header.prob_density_marks)} values of 'prob_density_marks' found, expected {_DENSITY_MARKS}",
        )
    return header
