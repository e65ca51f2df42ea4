"""Every way to compile a model that applies to it: the commands that `bench --try` tries."""

from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import MAX_DEGREE, coefficient_count
from fastsvm_cli.sizes import size_text

_NUMBER_BYTES = 11  # of a coefficient in a file
_CENTERS = (4, 16, 64)
_RATIOS = (0.002, 0.005, 0.01, 0.02, 0.05)
_SAMPLES = (30, 100, 1000)
_CERTIFY_OPERATIONS = 2e9  # a second, about


class Attempt:
    """arguments: of fastsvm, without the files. exact: predict with --exact as well. skipped: why it is not tried, or None."""

    def __init__(self, *arguments: str, exact: bool = False, skipped: "str | None" = None):
        self.arguments, self.exact, self.skipped = list(arguments), exact, skipped

    @property
    def name(self) -> str:
        return " ".join(self.arguments)


def attempts(model: ExactModel, features: int, max_bytes: float, patience: float) -> "list[Attempt]":
    """features: d of the support vectors. max_bytes: of a compiled model. patience: seconds a compilation may take, as far as that is known beforehand."""
    header = model.header
    out: "list[Attempt]" = []
    if not model.pairs or not header.total_sv:
        return out

    def approx(*options, degree, expansions=1, exact=False):
        size = coefficient_count(features, degree) * model.pairs * expansions * _NUMBER_BYTES
        why = size_text(round(size)) if size > max_bytes else None
        if why is None and "--certify" in options:
            seconds = header.total_sv**2 * features / 2 / _CERTIFY_OPERATIONS * max(1, header.nr_class - 1)
            why = f"about {seconds:.2g} s" if seconds > patience else None
        out.append(Attempt("approx", *options, exact=exact, skipped=why))

    if header.kernel_type == "rbf" and header.gamma >= 0:
        for degree in range(1, MAX_DEGREE + 1):
            approx("--degree", str(degree), *(["--certify"] if degree in (2, 3) else []), degree=degree, exact=degree in (2, 3))
        for degree in range(1, MAX_DEGREE + 1):
            approx("--center", "origin", "--degree", str(degree), degree=degree)
        if model.pairs > 1:
            approx("--center", "pair", "--certify", degree=2, exact=True)
        for centers in _CENTERS:
            for degree in (2, 3):
                if centers < header.total_sv:
                    approx("--centers", str(centers), "--degree", str(degree), degree=degree, expansions=centers)
        out += [Attempt("reduce", "--ratio", str(ratio)) for ratio in _RATIOS if ratio * header.total_sv >= max(2, header.nr_class)]
    elif header.kernel_type == "linear" or (header.kernel_type == "polynomial" and 1 <= header.degree <= MAX_DEGREE):
        approx("--certify", degree=1 if header.kernel_type == "linear" else header.degree, exact=True)
    if header.classification and header.kernel_type != "precomputed":
        out += [Attempt("border", "--samples", str(samples)) for samples in _SAMPLES]
    if model.kernel.semidefinite:
        out.append(Attempt("order", "--method", "geometry"))
    if header.kernel_type == "rbf" and header.gamma >= 0:
        out += [Attempt("order", "--method", method) for method in ("triangle", "blocks")]
    return out
