"""Parts that figures of several panels share."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fastsvm_cli.figures import style

#: Inches: left of panels (vertical axis), above (title) and below them (horizontal axis).
LEFT, TITLE, BELOW = 0.46, 0.17, 0.36
_BETWEEN = 0.09


def two_panels(height: float, right: float, legend: float) -> "tuple[Figure, Axes, Axes]":
    """right: margin; legend: space below; all in inches."""
    whole = TITLE + 2 * height + _BETWEEN + BELOW + legend
    figure = style.empty_figure(whole)
    upper = style.panel(figure, LEFT, whole - TITLE - height, style.WIDTH - right, whole - TITLE)
    lower = style.panel(figure, LEFT, legend + BELOW, style.WIDTH - right, legend + BELOW + height)
    return figure, upper, lower


def draw_legend(figure: Figure, entries: "list[Line2D]", columns: int) -> None:
    """Draw the legend below the panels."""
    figure.legend(
        handles=entries,
        loc="lower left",
        bbox_to_anchor=(0.02, 0.0),
        ncol=columns,
        frameon=False,
        columnspacing=0.8,
        handletextpad=0.2,
        handlelength=1.4,
        labelspacing=0.35,
        borderpad=0.2,
    )
