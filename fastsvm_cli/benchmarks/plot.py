"""Speed-up against disagreement, drawn."""

import os

from fastsvm_cli.benchmarks.cases import END_TO_END, Bench, Case


def plot(bench: Bench, kind: str, picked: "Case | None", front: "list[Case]") -> bytes:
    """The content of a file; kind: svg, png or pdf. Needs matplotlib."""
    import io

    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.fonttype"] = "none"  # text as text: smaller, and it can be searched
    found = [
        (case, speed_up, share)
        for case in bench.cases
        for speed_up, share in [(bench.speed_up(case, END_TO_END), bench.disagreement(case))]
        if case.role in ("exact", "compiled", "control", "reference")
        and case.failed is None
        and speed_up is not None
        and share is not None
    ]
    shown = [case for case, _, _ in found]
    # On a logarithmic axis there is no 0: a case without a row that differs is drawn at a third of one row.
    none = 1 / (3 * bench.rows)
    figure, axis = pyplot.subplots(figsize=(11, max(5, 0.24 * len(shown) + 1.5)))
    at = [(100 * max(share, none), times) for _, (times, _), share in found]
    order = sorted((at[shown.index(case)] for case in front if case in shown), key=lambda point: point[0])
    axis.plot([x for x, _ in order], [y for _, y in order], color="0.6", linewidth=1, zorder=1, label="Pareto front")
    for number, ((case, (_, error), _), (x, y)) in enumerate(zip(found, at), 1):
        colour = "tab:green" if case is picked else "tab:blue" if case in front else "0.55"
        axis.errorbar([x], [y], yerr=[min(error, 0.9 * y)], fmt="o", color=colour, markersize=6, capsize=2, zorder=2)
        axis.annotate(str(number), (x, y), xytext=(6, 4), textcoords="offset points", fontsize=8, color=colour)
        axis.plot([], [], " ", label=f"{number}  {_plain(case.name)}")
    reference = bench.reference(END_TO_END)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="labels that differ, %",
        ylabel=f"times as fast as {reference.name}, end to end" if reference is not None else "nothing was timed",
        title=f"{_plain(bench.test_file)}: {bench.rows} rows, {bench.model.header.total_sv} support vectors",
    )
    axis.axvspan(100 * none / 1.5, 100 * none * 1.5, color="0.93", zorder=0)
    axis.text(100 * none, axis.get_ylim()[0], "none", ha="center", va="bottom", fontsize=8)
    axis.grid(True, which="major", color="0.9")
    axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, bbox_inches="tight")
    pyplot.close(figure)
    return drawn.getvalue()


def _plain(name: str) -> str:
    """matplotlib reads formulas between dollar signs, and draws no bytes that are not text."""
    return os.fsencode(name).decode("utf-8", "replace").replace("$", r"\$")
