"""Figure of `reduce`."""

from matplotlib.figure import Figure

from fastsvm_cli.benchmarks.environment import describe, short
from fastsvm_cli.benchmarks.sizes import Sizes
from fastsvm_cli.figures import style

_FINISHED = {True: "all vectors moved at the end", False: "best coefficients alone"}


@style.applied()
def draw(data: str, found: Sizes) -> Figure:
    """Return the figure of sizes: labels that differ, and time, by number of vectors."""
    figure = style.empty_figure(3.0)
    upper, lower = figure.subplots(2, sharex=True)
    sizes, exact, written = found.sizes, found.exact, f"written: {found.sizes[-1].vectors:,} vectors"
    shares = [(100 * each.distance, 100 * each.distance_95[1]) for each in sizes if each.distance]
    first = style.scale_shares(upper, "y", shares, len(sizes) - len(shares), "0", cut=not found.regression)
    distances = []
    for each in sizes:
        low, high = (100 * end for end in each.distance_95)
        # The band of 0 has no scale: intervals begin at its end, or at its mark.
        distances.append(
            (100 * each.distance, max(low, first), high) if each.distance else (first / 2, first / 2, high)
        )
    times = [(1e6 * each.seconds, *(1e6 * end for end in each.seconds_95)) for each in sizes]
    lower.set_yscale("log")
    lower.axhspan(*(1e6 * end for end in exact.seconds_95), color="0.85", linewidth=0, zorder=0.5)
    lower.axhline(1e6 * exact.seconds, color=style.BLACK, linestyle="dashed", linewidth=0.8, gid="exact model")
    for axis, name, heights in ((upper, "distance", distances), (lower, "time", times)):
        axis.plot([each.vectors for each in sizes], [at for at, _, _ in heights], color="0.6", zorder=1.5, gid="sizes")
        for each, (at, low, high) in zip(sizes, heights):
            ends = [low, high] if axis is lower or high > first else []
            axis.plot(
                [each.vectors] * len(ends), ends, color=style.VERMILLION, linewidth=0.6, gid=f"interval of {name}"
            )
            gid = "finished" if each.finished else "not finished"
            mark = style.points(axis, [each.vectors], [at], "X", style.VERMILLION, gid)
            mark.set(label=_FINISHED[each.finished], markerfacecolor=style.VERMILLION if each.finished else "white")
        style.ring(axis, sizes[-1].vectors, heights[-1][0], written)
    least, most = sizes[0].vectors, sizes[-1].vectors
    lower.set(xscale="log", xlim=(least / 1.3, max(most, 2 * least) * 1.3), xlabel="vectors")
    lower.margins(y=0.2)
    style.set_log_ticks(lower.xaxis)
    style.set_log_ticks(lower.yaxis)
    words = f"exact model, {exact.vectors:,} vectors"
    above = 1e6 * max(exact.seconds, exact.seconds_95[1])
    lower.text(0.02, above, words, transform=lower.get_yaxis_transform(), va="bottom")
    upper.set_ylabel("RMS difference, % of spread" if found.regression else "labels that differ, %")
    lower.set_ylabel("time of a row, \N{MICRO SIGN}s")
    machine = style.printable(short(describe(0)), 50)
    upper.set_title(f"{style.printable(data, 40)}: {found.rows:,} rows\n{machine}", loc="left")
    style.finish(figure, [*_FINISHED.values(), written], 2)
    return figure
