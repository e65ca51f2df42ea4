"""Types of compile's arguments, for type checkers and editors; test_types.py derives them from the methods."""

from os import PathLike
from typing import Any, Literal, TypedDict

Method = Literal["exact", "approx", "cascade", "reduce", "order", "border", "geometry", "triangle", "auto"]
Path = str | PathLike[str]


class CompileOptions(TypedDict, total=False):
    """Options of every method; None means the default."""

    center: Literal["mean", "origin", "pair"] | None
    centers: int | None
    certify: bool | None
    coef0: float | None
    confidence: float | str | None
    dask: str | None
    data: Any | None
    degree: int | None
    each_class: bool | None
    fold: Path | None
    gamma: float | None
    init: Literal["greedy", "random", "alpha", "cluster"] | None
    kernel: Literal["exponential", "normalized-polynomial"] | None
    lists: int | None
    local: int | None
    lossless: bool | None
    max_size: float | None
    no_finish: bool | None
    optimizer: Literal["none", "irprop", "fixed-point"] | None
    points: int | None
    precision: Literal["single", "double"] | None
    rank: int | None
    ratio: float | str | None
    raw: bool | None
    rows: int | None
    samples: int | None
    sampling: Literal["refined", "dense", "random"] | None
    scale: Path | None
    seed: int | None
    sequence: Literal["greedy", "sgma"] | None
    target: float | str | None
    threads: int | None
    time_limit: float | None
    tolerance: float | None
    vectors: int | Path | None
