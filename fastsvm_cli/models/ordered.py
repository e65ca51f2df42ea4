"""What ordered models share: all the support vectors of the exact model, evaluated in an order that lets a row stop as soon as what is left of
its sum cannot change the answer; rows that never stop are evaluated exactly."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.header import one_word, read_own_header, real_number, whole_number
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.checksum import seal_compiled
from fastsvm_cli.models.exact import ExactModel, Kernel, read_vectors

#: Kernels that LIBSVM trains as precomputed ones -> their parameters, as they stand in the line `kernel`.
OWN_KERNELS = {"exponential": ("gamma",), "normalized_polynomial": ("degree", "gamma", "coef0")}


class OrderedModel(Model):
    """exact: the LIBSVM model, whole. fingerprint: of its file.

    A kind of ordered model adds `kind`, how it stands in the file, `ordered_by`, how a summary says it, and

    settle(chunk, task, tolerance, out) -> rows
        Fill `out` with values and radii, each row as soon as its answer is settled (regression: its value, to within `tolerance`), and count
        out.evaluations. Returns the rows that are not settled.

    Kernel evaluations are counted as often as they are done: a row that is not settled is evaluated in full then, its points once more, and where rounding
    leaves even that open, once again in LIBSVM's own order of operations.
    """

    kind: str
    ordered_by: str
    proves = True
    ordered = True

    def __init__(self, exact: ExactModel, fingerprint: str):
        self.exact, self.header, self.fingerprint = exact, exact.header, fingerprint
        self._task = self.header.task()
        self._again = _native.Decisions(self.pairs, True)

    def settle(self, chunk: _native.Chunk, task: _native.Task, tolerance: float, out: _native.Decisions) -> "list[int]":
        raise NotImplementedError

    def decision_values(self, chunk, out, until=None):
        if isinstance(until, list) or (self.header.regression and until is None):
            self._exact_values(chunk, out, until)
            return
        left = self.settle(chunk, self._task, until or 0.0, out)
        if not left:
            return
        part, again = chunk.select(left), self._again
        if until is None:
            self._exact_values(part, again, None)
        else:
            self.exact.evaluator.fast_values(part, again)
            far = [row for row in range(part.rows) if not again.radius[row, 0] <= until]  # what rounding leaves open: LIBSVM's own order of operations
            if far:
                only = _native.Decisions(self.pairs)
                self.reference_values(part.select(far), only)
                only.reference_rows = len(far)
                again.put(far, only)
            again.count(self.header.total_sv)
        out.put(left, again)

    def reference_values(self, chunk, out):
        self.exact.reference_values(chunk, out)
        out.count(self.header.total_sv)

    def _exact_values(self, chunk, out, until):
        self.exact.decision_values(chunk, out, until)
        out.count(self.header.total_sv)

    def file_of(self, lines: str, *rest: bytes) -> bytes:
        """The file. lines: the kind's own keys. rest: what follows the support vectors."""
        kernel = self.exact.kernel
        own = [f"kernel {kernel.type} {' '.join(repr(getattr(kernel, key)) for key in OWN_KERNELS[kernel.type])}\n"] if kernel.type in OWN_KERNELS else []
        head = "".join([self.header.lines(), *own, f"fingerprint {self.fingerprint}\n", lines, "SV\n"])
        return seal_compiled(self.kind, [head.encode(), _native.format_rows(self.exact.vectors), *rest])


class OrderedFile:
    """An ordered model's file, read up to what its kind adds. exact, fingerprint, own: {key: number} of own_keys; extra: the rows behind the support
    vectors (own["nr_folded"] many), together with them; sequence: the word of that line, where the kind has one; text, at, line: where reading goes on."""

    def __init__(self, text: bytes, path: str, own_keys: "tuple[str, ...]", sequence: bool = False):
        header, own, offset, line = read_own_header(text, path, end=b"SV", keys=("fingerprint", *["sequence"] * sequence, *own_keys), optional=("kernel",))
        self.path, self.text = path, text
        self.own = {}
        for key in own_keys:
            words, at = own[key]
            self.own[key] = whole_number(one_word(words, key, path, at), key, path, at)
            if self.own[key] < 0:
                raise ModelFormatError(path, f"{key} {self.own[key]} found, expected 0 or more", at)
        words, at = own["fingerprint"]
        self.fingerprint = one_word(words, "fingerprint", path, at)
        self.sequence = one_word(own["sequence"][0], "sequence", path, own["sequence"][1]) if sequence else None
        kernel = _read_kernel(*own["kernel"], path) if "kernel" in own else None
        if (kernel is not None) != (header.kernel_type == "precomputed"):
            raise ModelFormatError(path, "a line 'kernel' found" if kernel else "the header ends without 'kernel', which a precomputed kernel needs", line)
        folded = self.own.get("nr_folded", 0)
        self.all_vectors, self.at = read_vectors(text, path, header, offset, line, folded)
        vectors = self.all_vectors.select(list(range(header.total_sv))) if folded else self.all_vectors
        self.exact = ExactModel(header, vectors, path, kernel)
        self.line = line + self.all_vectors.rows

    def numbers(self, count: int):
        """The next `count` numbers, whole lines."""
        try:
            view, at = _native.parse_numbers(self.text, self.at, count)
        except ValueError as error:
            what, where = error.args
            raise ModelFormatError(self.path, f"{what} among {count} numbers", self._line_of(where)) from None
        self.at = at
        return view

    def whole_numbers(self, count: int, limit: int) -> "list[int]":
        """The next `count` numbers, each of them whole, 0 or more, and below `limit`."""
        start = self.at
        view = self.numbers(count) if count else ()
        for value in view:
            if not (0 <= value < limit and value == int(value)):
                raise ModelFormatError(self.path, f"{value:g} found, expected a whole number below {limit}", self._line_of(start))
        return [int(value) for value in view]

    def word(self, word: bytes) -> None:
        """The next line, which must be this word."""
        stop = self.text.find(b"\n", self.at)
        if self.text[self.at : stop].strip(b" \t") != word:
            raise ModelFormatError(self.path, f"'{self.text[self.at : stop][:40].decode('ascii', 'replace')}' found, expected '{word.decode()}'", self._line_of(self.at))
        self.at = stop + 1

    def end(self) -> None:
        self.word(b"end")
        if self.at != len(self.text):
            raise ModelFormatError(self.path, "text found after 'end'", self._line_of(self.at))

    def _line_of(self, offset: int) -> int:
        return self.text.count(b"\n", 0, offset) + 1


def _read_kernel(words: "list[str]", line: int, path: str) -> Kernel:
    if not words or words[0] not in OWN_KERNELS or len(words) != 1 + len(OWN_KERNELS[words[0]]):
        raise ModelFormatError(path, f"kernel '{' '.join(words)[:40]}' found, expected {' or '.join(' '.join((k, *v)) for k, v in OWN_KERNELS.items())}", line)
    values = {key: (whole_number if key == "degree" else real_number)(word, key, path, line) for key, word in zip(OWN_KERNELS[words[0]], words[1:])}
    kernel = Kernel(words[0], **values)
    if not kernel.semidefinite or (kernel.type == "normalized_polynomial" and (kernel.coef0 <= 0 or kernel.degree < 0)):
        raise ModelFormatError(path, f"kernel '{' '.join(words)[:40]}' found, expected gamma 0 or more{', coef0 above 0' * (kernel.type != 'exponential')}", line)
    return kernel
