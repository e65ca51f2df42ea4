"""Writer of C99: source, header, and a main that reads LIBSVM rows.

Double precision adds kernel values in LIBSVM's order; single precision uses Kahan's sums.
"""

import re
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli import __version__
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export import c_text
from fastsvm_cli.export.description import Description, KernelSums, Polynomials, Samples
from fastsvm_cli.export.rounding import Radius, check_range, longest_row, radius_of, rounded_up, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: AVR limits in bytes: one table (16-bit pointers), and all.
_NEAR_TABLE, _NEAR = 32767, 65535


class Table:
    """A const array of C. bits, type: of integers; 0 and None for reals."""

    def __init__(self, name: str, numbers: Any, whole: bool):
        self.name, self.numbers = name, np.asarray(numbers).ravel()
        if not len(self.numbers):
            self.numbers = np.zeros(1)  # C has no empty arrays
        self.bits, self.type = 0, None
        if whole:
            low, high = int(self.numbers.min(initial=0)), int(self.numbers.max(initial=0))
            unsigned = low >= 0 and high < 1 << 16  # the reader's long has at least 32 bits
            self.bits = next(b for b in (8, 16, 32) if high < 1 << b - (not unsigned) and -low <= 1 << b - 1)
            self.type = f"{'u' * unsigned}int{self.bits}_t"


class Program:
    """C of an exported model. prefix: of every name. file: name of the header, without .h."""

    def __init__(
        self, description: Description, *, single: bool, prefix: str, file: "str | None" = None, progmem: bool = False
    ):
        self.description, self.single, self.prefix, self.progmem = description, single, prefix, progmem
        self.file = prefix if file is None else file
        self.tables: list[Table] = []
        self.operations = 0
        self._stack = 0
        header = description.header
        if single:
            check_range(description)
        self._probable = not header.regression and header.has_probability
        self._radius = radius_of(description, single, differences=True)
        self._words = self._shared_words()
        body = description.body
        if isinstance(body, KernelSums):
            sums = self._kernel_sums(body)
        elif isinstance(body, Polynomials):
            sums = self._polynomials(body)
        else:
            sums = self._samples(body)
        self._code = [self._load(), sums, self._decide(), self._answer()]
        if self._probable:
            self._code.append(self._probabilities())
        if self._radius is not None:
            self._code.insert(1, self._bound(self._radius))
            self._code.append(self._decided())
        self._code += [self._put(f"{signature}\n{{\n{body}}}\n") for signature, body in self._functions()]
        self._check()
        self._tables = [*map(self._table, self.tables)]

    @property
    def real_bytes(self) -> int:
        """Bytes of a number."""
        return 4 if self.single else 8

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        return sum(self._sizes())

    @property
    def stack_bytes(self) -> int:
        """Bytes of the functions' arrays."""
        return self._stack * self.real_bytes

    def source(self) -> str:
        """Return the text of the C file."""
        return self._put("\n".join([c_text.CORE, *self._tables, *self._code]), INCLUDE=self._include())

    def header(self) -> str:
        """Return the text of the header file."""
        declarations = "\n".join(f"{signature};" for signature, _ in self._functions())
        regression = self.description.header.regression
        notes = "predict returns the value." if regression else "predict returns the label."
        notes += " If a number that is used is NaN, values are NaN" + (
            "." if regression else ", and the label the last."
        )
        if self._radius is not None:
            proven = "whether they are finite" if regression else "whether they leave one label only"
            notes += f" radius fills bounds of the distance from svm-predict's values, and returns {proven}."
        if (length := longest_row(self.description, self.single)) is not None:
            notes += f" A row of a Euclidean length beyond {length:g} may overflow."
        return self._put(c_text.HEADER, DECLARATIONS=declarations, NOTES=notes, LABELS=self._labels())

    def _include(self) -> str:
        # C cannot name some files: their text is included here.
        named = self.file.isprintable() and not set(self.file) & set('"\\?@')
        return f'#include "{self.file}.h"' if named else self.header()

    def _labels(self) -> str:
        header, classes = self.description.header, self.description.classes
        if header.regression:
            return ""
        count = "#define @PREFIX@_CLASSES @CLASSES@ /* probabilities */\n"
        labels = list(map(str, header.label or [1, -1]))
        if classes is not None and header.label and not _are_numbers(classes, header.label):
            words = [f"{label} is {_quoted(str(name))}" for label, name in zip(labels, classes)]
        else:
            words = labels
        lines = _wrapped([*(f"{word}," for word in words[:-1]), f"{words[-1]}. */"])
        return count + "\n/* Labels, in the order of the probabilities:\n" + "\n".join(lines) + "\n"

    def main(self, longest_row: int) -> str:
        """Return a program that answers a LIBSVM file. longest_row: most entries."""
        regression = self.description.header.regression
        form = '"%.@DIGITS@g", (double)' if regression else '"%ld", (long)'
        line = f"printf({form}@PREFIX@_predict_sparse(index, value, count));"
        return self._put(c_text.MAIN, PRINT=line, MOST=max(longest_row, 1), INCLUDE=self._include())

    # ---- words and tables

    def _put(self, text: str, **words: object) -> str:
        for name, word in [*words.items(), *self._words.items()]:
            text = text.replace(f"@{name}@", str(word))
        return text

    def _written(self, numbers: Any) -> "list[str]":
        texts = map(str, written(numbers, self.single, self.description.path).ravel())
        return [f"{text}{'f' * self.single}" for text in texts]

    def _number(self, value: float) -> str:
        (text,) = self._written(value)
        return f"({text})" if text.startswith("-") else text

    def _add(self, name: str, numbers: Any, whole: bool = False) -> None:
        self.tables.append(Table(name, numbers, whole))

    def _whole(self, name: str, at: str) -> str:
        table = next(each for each in self.tables if each.name == name)
        if not self.progmem:
            return f"{name}[{at}]"
        word = {8: "byte", 16: "word", 32: "dword"}[table.bits]
        return f"({table.type})pgm_read_{word}(&{name}[{at}])"

    def _shared_words(self) -> "dict[str, object]":
        description, header = self.description, self.description.header
        real = "float" if self.single else "double"
        narrow = all(abs(each) < 1 << 15 for each in header.label or [])
        mark = f", fingerprint {description.fingerprint}" if description.fingerprint else ""
        return {
            "READ": c_text.PROGMEM_READ if self.progmem else c_text.PLAIN_READ,
            "MADE": f"fastsvm {__version__} made this of a {description.kind} model ({header.svm_type}){mark}.",
            "REAL": real,
            "EXP": "expf" if self.single else "exp",
            "TANH": "tanhf" if self.single else "tanh",
            "LABEL": real if header.regression else "int" if narrow else "long",
            "PREFIX": self.prefix,
            "GUARD": f"{self.prefix.upper()}_H",
            "FEATURES": description.inputs,
            "FIRST": description.first_index,
            "USED": len(description.used),
            "ROOM": max(len(description.used), 1),
            "PAIRS": header.pairs,
            "CLASSES": header.nr_class if header.classification else 2,
            "DIGITS": 9 if self.single else 17,
            "RADII": "" if self._radius is None else f", {real} *radii",
            "GIVEN": "" if self._radius is None else ", radii",
            "ZERO": self._number(0.0),
            "ONE": self._number(1.0),
            "TWO": self._number(2.0),
        }

    def _table(self, table: Table) -> str:
        words = [str(int(value)) for value in table.numbers] if table.type else self._written(table.numbers)
        slot = " PROGMEM" if self.progmem else ""
        head = f"static const {table.type or '@REAL@'} {table.name}[{len(words)}]{slot} = {{\n"
        return head + "\n".join(_wrapped(f"{word}," for word in words)) + "\n};\n"

    def _sizes(self) -> "list[int]":
        return [len(table.numbers) * (table.bits // 8 or self.real_bytes) for table in self.tables]

    def _check(self) -> None:
        path = self.description.path
        if self.progmem and not self.single:
            raise ModelFormatError(path, "--progmem goes with --precision single: a double of avr-gcc has 32 bits")
        sizes = self._sizes()
        if self.progmem and (max(sizes, default=0) > _NEAR_TABLE or sum(sizes) > _NEAR):
            why = f"tables of {sum(sizes):,} bytes found, the largest of {max(sizes):,}"
            raise ModelFormatError(path, f"{why}: --progmem holds {_NEAR:,}, of {_NEAR_TABLE:,} each at most")

    # ---- from a row to its used columns

    def _load(self) -> str:
        description = self.description
        d, inputs, counts = len(description.used), description.inputs, len(description.rest) > 0
        self._stack += max(d, 1)
        lines = []
        if description.scaling is not None:
            for name, numbers in zip(("SLOPE", "OFFSET"), description.scaling):
                self._add(name, numbers)
            lines.append("x = READ(&SLOPE[j]) * x + READ(&OFFSET[j]);")
            self.operations += 2 * inputs
        first = np.array_equal(description.used, np.arange(d))
        if not first:
            slots = np.full(inputs, -1)
            slots[description.used] = np.arange(d)
            self._add("PLACE", slots, whole=True)
        slot, test = ("j", f"j < {d}") if first else (self._whole("PLACE", "j"),) * 2
        if not first:
            test += " >= 0"
        if d == inputs:
            lines.append(f"z[{slot}] = x;")
        elif d:
            lines.append(f"if ({test}) z[{slot}] = x;")
        if d < inputs and counts:
            lines.append("else rest += x * x;" if d else "rest += x * x;")
        column = "\n".join(f"        {line}" for line in lines) or "        (void)x;"
        squares = description.of_distances and description.scaling is None
        return self._put(
            c_text.LOAD,
            CLEAR=c_text.CLEAR * (d < inputs),
            COLUMN=column,
            BEYOND=c_text.BEYOND * squares,
            COUNTS=c_text.COUNTS * squares,
        )

    # ---- sums of a row: decision values before rho

    def _kernel_sums(self, body: KernelSums) -> str:
        kernel, (n, d), distances = body.kernel, body.vectors.shape, body.kernel.of_distances
        columns = body.coefficients.shape[1]
        self.operations += n * ((3 if distances else 2) * d + 3 + 2 * columns)
        entries = (body.vectors != 0).sum(axis=1)
        narrow = 1 if d <= 256 else 2 if d <= 65536 else 4
        sparse = entries.sum() * (self.real_bytes + narrow) + n * narrow < n * d * self.real_bytes
        counted = not sparse or distances or kernel.type == "polynomial" or columns > 1
        locals_ = c_text.KERNEL_LOCALS.replace("@J@", ", j" * counted)
        if sparse:
            rows, at = np.nonzero(body.vectors)
            self._add("ENTRIES", entries, whole=True)
            self._add("COLUMN", at, whole=True)
            self._add("VECTOR", body.vectors[rows, at])
            locals_ += "    long e, entry = 0, vector = 0;\n"
            inner = self._put(
                c_text.SPARSE_DISTANCE if distances else c_text.SPARSE_PRODUCT,
                ENTRIES=self._whole("ENTRIES", "vector++"),
                COLUMN=self._whole("COLUMN", "entry"),
            )
        else:
            self._add("VECTOR", body.vectors)
            inner = c_text.DENSE_DISTANCE if distances else c_text.DENSE_PRODUCT
        self._add("COEFFICIENT", body.coefficients)
        base = f"{self._number(kernel.gamma)} * s + {self._number(kernel.coef0)}"
        value = {
            "rbf": f"        const @REAL@ k = @EXP@(-{self._number(kernel.gamma)} * s);\n",
            "polynomial": self._put(c_text.POWER, BASE=base, DEGREE=kernel.degree),
            "sigmoid": f"        const @REAL@ k = @TANH@({base});\n",
        }[kernel.type]
        add = "values[p] += READ(a++) * k;"
        if self.single:
            self._stack += self.description.header.pairs
            locals_ += "    @REAL@ lost[@PAIRS@];\n"
            add = "add(&values[p], &lost[p], READ(a++) * k);"
        loops, pair = f"    for (i = 0; i < {n}; ++i) {{\n", f"        p = 0;\n        {add}\n"
        if columns > 1:
            self._add("COUNT", body.counts, whole=True)
            locals_ += "    long c;\n"
            loops = (
                f"    for (c = 0; c < {columns + 1}; ++c)\n    for (i = 0; i < {self._whole('COUNT', 'c')}; ++i) {{\n"
            )
            pair = self._put(c_text.PAIR, COLUMNS=columns, WIDTH=2 * columns + 1, ADD=add)
        start = f"        @REAL@ s = {'rest' if distances else '@ZERO@'};\n"
        text = f"{loops}{start}{inner}        {{\n{value}{pair}        }}\n    }}\n"
        if self.single:
            text = "    for (p = 0; p < @PAIRS@; ++p) lost[p] = @ZERO@;\n" + text
        if self._radius is not None:
            locals_ += "    @REAL@ norm = rest;\n"
            text += "    for (i = 0; i < @USED@; ++i) norm += z[i] * z[i];\n"
            text += "    for (p = 0; radii && p < @PAIRS@; ++p) radii[p] = bound(p, norm, @ONE@, @ZERO@);\n"
        shared = c_text.ADD if self.single else ""
        return self._put(shared + "\n" * bool(shared) + self._put(c_text.SUMS, LOCALS=locals_, BODY=text))

    def _polynomials(self, body: Polynomials) -> str:
        d = len(self.description.used)
        expansions = sorted(body.expansions, key=lambda each: each.center)
        numbers: list[np.ndarray | list[float]] = []
        for each in expansions:
            numbers += each.levels
            for weight, direction in zip(each.weights, each.directions):
                numbers += [[weight], direction]
        self._add("COEFFICIENT", np.concatenate(numbers))
        self._add("PAIR", [each.pair for each in expansions], whole=True)
        self.operations += 2 * len(self.tables[0].numbers)
        locals_ = "    const @REAL@ *c = COEFFICIENT;\n    long e;\n"
        point, about, add = "z", "", "values[p] += sum;"
        if body.gamma is not None or body.centers.any():
            self.operations += len(body.centers) * (3 * d + 2)
            self._stack += max(d, 1)
            point, about = "moved", self._about(body, expansions)
            locals_ += "    @REAL@ moved[@ROOM@] = {@ZERO@};\n    long about = -1;\n"
        if body.gamma is not None:
            locals_ += "    @REAL@ weight = @ZERO@, norm = rest;\n"
            add = "if (!(weight <= @ZERO@)) values[p] += weight * sum;"  # with weight 0 the polynomial may be infinite
        before = ""
        if self._radius is not None:
            before = "    for (p = 0; radii && p < @PAIRS@; ++p) radii[p] = @ZERO@;\n"
            if body.gamma is None:  # shared by all expansions
                locals_ += "    @REAL@ norm = @ZERO@;\n"
                before += "    for (i = 0; i < @USED@; ++i) norm += z[i] * z[i];\n"
                add += "\n        if (radii) radii[p] += bound(e, norm, @ONE@, sum);"
            else:
                add += (
                    "\n        if (radii) radii[p] += bound(e, norm, weight, weight > @ZERO@ ? weight * sum : @ZERO@);"
                )
        whole, compressed = _nested(body.degree, d, point), ""
        if any(each.rank for each in expansions):
            locals_ += "    long r;\n"
            self._add("RANK", [each.rank for each in expansions], whole=True)
            rank = self._put(c_text.RANK, RANK=self._whole("RANK", "e"), POINT=point)
            compressed = _nested(1, d, point) + rank
            test = (
                f"        if ({self._whole('RANK', 'e')} > 0) {{\n{compressed}        }} else {{\n{whole}        }}\n"
            )
            whole = test if not all(each.rank for each in expansions) else compressed
        if "(i = 0" in before + about + whole:
            locals_ += "    long i;\n"
        text = f"{before}    for (e = 0; e < {len(expansions)}; ++e) {{\n        @REAL@ sum;\n{about}{whole}"
        text += f"        p = {self._whole('PAIR', 'e')};\n        {add}\n    }}\n"
        return self._put(self._put(c_text.SUMS, LOCALS=locals_, BODY=text))

    def _about(self, body: Polynomials, expansions: "list[Any]") -> str:
        self._add("CENTER", body.centers)
        self._add("ABOUT", [each.center for each in expansions], whole=True)
        low = body.centers - body.centers.astype(np.float32) if self.single else np.zeros(0)
        if low.any():  # a center in single precision would shift every row
            self._add("CENTER_LOW", low)
        gaussian = body.gamma is not None
        return self._put(
            c_text.ABOUT,
            # Before ABOUT, which it contains.
            LOW_POINTER="            const @REAL@ *low = CENTER_LOW + @ABOUT@ * @USED@;\n" * bool(low.any()),
            ABOUT=self._whole("ABOUT", "e"),
            LOW=" - READ(low++)" if low.any() else "",
            NORM_0="            norm = rest;\n" * gaussian,
            NORM="                norm += moved[i] * moved[i];\n" * gaussian,
            WEIGHT=f"            weight = @EXP@(-{self._number(body.gamma or 0)} * norm);\n" * gaussian,
        )

    def _samples(self, body: Samples) -> str:
        d, counts = len(self.description.used), [len(points) for _, points, _ in body.pairs]
        self._add("LEVEL", [level for level, _, _ in body.pairs])
        self._add("COUNT", counts, whole=True)
        rows = [np.stack([points, normals], axis=1).ravel() for _, points, normals in body.pairs]
        self._add("SAMPLE", np.concatenate(rows) if any(counts) else [])
        self.operations += 3 * d * (sum(counts) + len(counts))
        text = self._put(c_text.SAMPLES, COUNT=self._whole("COUNT", "p"))
        return self._put(c_text.SUMS, LOCALS="    const @REAL@ *b = SAMPLE;\n    long i, j;\n", BODY=text)

    # ---- from sums to decision values

    def _decide(self) -> str:
        description, header = self.description, self.description.header
        self._stack += header.pairs
        end = locals_ = ""
        if not isinstance(description.body, Samples) and any(header.rho):
            self._add("RHO", header.rho)
            end += "    for (p = 0; p < @PAIRS@; ++p) values[p] -= READ(&RHO[p]);\n"
        if description.labels_back is not None:
            start, scale, to = map(self._number, description.labels_back)
            end += f"    values[0] = {to} + (values[0] - {start}) * {scale};\n"
        if self._radius is not None:
            unknown = "index && count > 0 && (index[0] < @FIRST@ || index[count - 1] - @FIRST@ >= @FEATURES@)"
            locals_ = f"    const int unknown = {unknown};\n"
            end += self._radii_end(self._radius)
        if "(p = 0" in end:
            locals_ += "    int p;\n"
        return self._put(c_text.DECIDE, END=end, LOCALS=locals_)

    def _upper(self, value: float) -> str:
        return self._number(float(rounded_up(value, self.single)))

    def _radii_end(self, radius: Radius) -> str:
        units, back = "", self.description.labels_back
        if back is not None:
            _, scale, to = back
            words = {"SCALE": scale * (1 + 16 * radius.v), "SHARE": 8 * radius.v, "TO": abs(to)}
            units = self._put(c_text.UNITS, **{name: self._upper(value) for name, value in words.items()})
        return self._put(c_text.RADII_END, UP=self._upper(radius.up), UNITS=units)

    def _bound(self, radius: Radius) -> str:
        order = sorted(range(len(radius.about)), key=lambda e: radius.about[e])  # the order of _polynomials
        self._add("BOUND", rounded_up(radius.rows[order], self.single))
        for column, name in enumerate(("DRIFT", "SHIFT")):
            self._add(name, rounded_up(radius.centers[:, column], self.single))
        several = len(radius.centers) > 1
        return self._put(
            c_text.BOUND,
            CENTER=self._whole("ABOUT", "e") if several else "0",
            WIDTH=radius.power + 5,
            K=radius.power,
            GROW=self._upper(1 + radius.theta),
            NEAR=self._upper(1 + 8 * radius.v),
            X1=self._upper(radius.x1),
            X0=self._upper(radius.x0),
            LIMIT=self._number(radius.limit),
            TINY=self._upper(radius.tiny),
        )

    def _decided(self) -> str:
        header = self.description.header
        if header.regression:
            return self._put(c_text.SETTLED_VALUE)
        several = header.classification and header.nr_class > 2
        self._stack += 2 * header.nr_class if several else 0
        return self._put(c_text.SETTLED_VOTES if several else c_text.SETTLED_SIGN)

    # ---- from decision values to answers

    def _answer(self) -> str:
        header = self.description.header
        if header.regression:
            return self._put(c_text.VALUE)
        if not header.classification:
            return self._put(c_text.SIGN, FIRST=1, SECOND=-1)
        if header.nr_class == 2:
            first, second = header.label or []
            return self._put(c_text.SIGN, FIRST=first, SECOND=second)
        self._stack += header.nr_class
        self._add("LABELS", header.label, whole=True)
        return self._put(c_text.VOTES, LABEL_BEST=self._whole("LABELS", "best"))

    def _probabilities(self) -> str:
        header, k = self.description.header, self.description.header.nr_class
        if not header.classification:
            low, high, ten = self._number(0.001), self._number(0.999), self._number(10)
            marks = ", ".join(self._written(header.prob_density_marks))
            return self._put(c_text.ONE_CLASS, MARKS=marks, LOW=low, HIGH=high, TEN=ten)
        self._stack += k * k + k if k > 2 else 0
        return self._put(
            f"{c_text.SIGMOID}\n{c_text.COUPLING if k > 2 else c_text.TWO_CLASSES}",
            A=", ".join(self._written(header.probA)),
            B=", ".join(self._written(header.probB)),
            LEAST=self._number(1e-7),
            MOST=self._number(1 - 1e-7),
            EPS=self._number(0.005 / k),
            SHARE=self._number(1 / k),
            ROUNDS=max(100, k),
        )

    def _functions(self) -> "list[tuple[str, str]]":
        # (signature, body)
        own = "    @REAL@ values[@PAIRS@];\n"
        decide = f"    decide(@ROW@, values{'' if self._radius is None else ', 0'});\n"
        functions = [
            ("@LABEL@", "predict", "", f"{own}{decide}    return answer(values);\n"),
            ("void", "values", ", @REAL@ *values", decide),
        ]
        if self._probable:
            body = f"{own}{decide}    couple(values, probabilities);\n"
            functions.append(("void", "probabilities", ", @REAL@ *probabilities", body))
        if self._radius is not None:
            body = f"{own}    decide(@ROW@, values, radii);\n    return settled(values, radii);\n"
            functions.append(("int", "radius", ", @REAL@ *radii", body))
        sparse = "const int *index, const @REAL@ *value, int count"
        return [
            (f"{returns} @PREFIX@_{name}{ending}({row}{more})", body.replace("@ROW@", passed))
            for returns, name, more, body in functions
            for ending, row, passed in (
                ("", "const @REAL@ *row", "row, 0, 0"),
                ("_sparse", sparse, "value, index, count"),
            )
        ]


def _wrapped(words: "Iterable[str]") -> "list[str]":
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) > 118 and line.strip():
            lines.append(line)
            line = "   "
        line += f" {word}"
    return [*lines, line]


def _are_numbers(classes: "Sequence[Any]", labels: "Sequence[int]") -> bool:
    return np.asarray(classes).dtype.kind in "iuf" and np.array_equal(classes, labels)


def _quoted(name: str) -> str:
    from json import dumps

    return re.sub(r"(?<=\*)/|(?<=/)\*|[?@]", lambda found: f"\\u{ord(found[0]):04x}", dumps(name))


def _nested(degree: int, d: int, point: str) -> str:
    # Horner's rule: in lexicographic order, pointers only advance.
    indices = "ijkl"
    sizes = [comb(d + k - 1, k) if k else 1 for k in range(degree + 1)]
    lines = ["        {"]
    for k in range(1, degree + 1):
        lines.append(f"            const @REAL@ *c{k} = c + {sum(sizes[:k])};")
    if degree > 1:
        lines.append(f"            long {', '.join(indices[1:degree])};")
    lines.append("            sum = READ(c);")
    sums = ["sum", *(f"s{k}" for k in range(1, degree))]
    for k in range(1, degree + 1):
        pad, j, least = "    " * (k + 2), indices[k - 1], indices[k - 2] if k > 1 else "0"
        lines.append(f"{pad}for ({j} = {least}; {j} < {d}; ++{j}) {{")
        if k < degree:
            lines.append(f"{pad}    @REAL@ s{k} = READ(c{k}++);")
    for k in range(degree, 0, -1):
        pad, factor = "    " * (k + 2), f"s{k}" if k < degree else f"READ(c{k}++)"
        lines += [f"{pad}    {sums[k - 1]} += {factor} * {point}[{indices[k - 1]}];", f"{pad}}}"]
    return "\n".join([*lines, f"            c += {sum(sizes)};", "        }"]) + "\n"
