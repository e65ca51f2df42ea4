"""Tables of a C program, and its function `sums`."""

from math import comb
from typing import Any

import numpy as np

from fastsvm_cli.export import c_text
from fastsvm_cli.export.description import Description, KernelSums, Polynomials, Samples
from fastsvm_cli.export.numbers import written
from fastsvm_cli.export.radius import Radius


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


class Sums:
    """Base of Program, which writes its tables and the C function `sums` of decision values."""

    description: Description
    single: bool
    progmem: bool
    tables: "list[Table]"
    operations: int
    _stack: int
    _words: "dict[str, object]"
    _radius: "Radius | None"

    @property
    def real_bytes(self) -> int:
        """Bytes of a number."""
        return 4 if self.single else 8

    def _put(self, text: str, **words: object) -> str:
        for name, word in [*words.items(), *self._words.items()]:
            text = text.replace(f"@{name}@", str(word))
        return text

    def _written(self, numbers: Any) -> "list[str]":
        """Return constants of C. Raises ModelFormatError for numbers beyond the precision."""
        texts = map(str, written(numbers, self.single, self.description.path).ravel())
        return [f"{text}{'f' * self.single}" for text in texts]

    def _number(self, value: float) -> str:
        """Return a constant for use in an expression."""
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
            add = "if (weight > @ZERO@) values[p] += weight * sum;"  # with weight 0 the polynomial may be infinite
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
            ABOUT=self._whole("ABOUT", "e"),
            LOW_POINTER="            const @REAL@ *low = CENTER_LOW + about_e * @USED@;\n".replace(
                "about_e", self._whole("ABOUT", "e")
            )
            * bool(low.any()),
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


def _nested(degree: int, d: int, point: str) -> str:
    """Return Horner's rule in C: lexicographic order lets pointers only advance."""
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
