"""Marks of the methods: their shapes alone distinguish them."""

from typing import NamedTuple

from matplotlib.lines import Line2D

from fastsvm_cli.figures import style
from fastsvm_cli.methods import methods

_SIZE = 4.4  # points
#: Size of a ring, in points.
RING = 10.0
#: By method; approx has a shape per degree.
_MARKS = (("8", style.BLUE), ("X", style.VERMILLION), (">", style.PURPLE), ("P", style.GREEN))
_DEGREES = {1: "o", 2: "d", 3: "^", 4: "s"}


def points(x: "list[float]", y: "list[float]", marker: str, size: float, face: str, edge: str, width: float) -> Line2D:
    """Return points with a marker. size, width (of the edge): in points."""
    return Line2D(
        x,
        y,
        linestyle="none",
        marker=marker,
        markersize=size,
        markerfacecolor=face,
        markeredgecolor=edge,
        markeredgewidth=width,
    )


def ring(x: "list[float]", y: "list[float]") -> Line2D:
    """Return a ring around a point."""
    line = points(x, y, "o", RING - 0.5, style.BLACK, style.BLACK, 0.8)
    line.set(fillstyle="none", zorder=4, gid="picked")  # some SVG converters fill transparent colors
    return line


class Mark(NamedTuple):
    """Mark of a case in a figure. words: in the legend. size: in points. rank: order in the legend."""

    words: str
    marker: str
    face: str
    edge: str
    size: float
    rank: int

    def line(self, x: "list[float]", y: "list[float]") -> Line2D:
        """Return the points with this mark."""
        return points(x, y, self.marker, self.size, self.face, self.edge, 1.0 if self.marker in "+x" else 0.6)


def mark_of(case: dict) -> Mark:
    """Return the mark of a case of `bench --json`."""
    role, kind = case["role"], case["kind"]
    if role == "reference":
        own = case["end_to_end"] is not None
        return Mark(
            "svm-predict" if own else "libsvm", "+" if own else "x", style.BLACK, style.BLACK, 5.5, 0 if own else 1
        )
    if role == "exact":
        return Mark("exact model", "*", style.BLACK, style.BLACK, 6.5, 2)
    exact = case["with_exact"]
    more = ", --exact" if exact else ""
    if kind == "maclaurin":
        degree, many = case["degree"], (case["centers"] or 1) > 1
        face = "white" if exact else style.SKY_BLUE if many else style.BLUE
        words = f"degree {degree}{', centers' if many else ''}{more}"
        rank = 10 + 10 * many + 20 * exact + degree
        return Mark(
            words, _DEGREES.get(degree, "8"), face, style.BLUE if not many or exact else style.BLACK, _SIZE, rank
        )
    for at, method in enumerate(methods()):
        if kind in method.kinds:
            marker, colour = _MARKS[at % len(_MARKS)]
            face = "white" if exact else colour
            return Mark(method.name + more, marker, face, colour, _SIZE + 0.4, 60 + 2 * at + exact)
    words = "other LIBSVM model" if kind == "LIBSVM" else str(kind)
    return Mark(words + more, "h", "white" if exact else style.ORANGE, style.ORANGE, _SIZE, 95 + exact)


def short_name(case: dict) -> str:
    """Return a point's label: the method and its options, or the file's or program's name."""
    made_by = case["made_by"]
    if not made_by:
        return str(case["name"]).removesuffix(", in process")
    command, *words = made_by
    words_of = [command]
    for option, value in zip(words, [*words[1:], ""]):
        if option in ("--center", "--method"):
            words_of.append(value)
        elif option == "--centers":
            words_of.append(f"{value} centers")
        elif option == "--certify" and not case["with_exact"]:
            words_of.append("certified")
        elif option in ("--vectors", "--ratio", "--target"):
            words_of.append(f"{option[2:]} {value}")
    if command == "approx":
        words_of.insert(1, f"degree {case['degree']}")
    return ", ".join(words_of) + (", --exact" if case["with_exact"] else "")
