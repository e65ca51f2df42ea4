"""--scale: its file, read before the rows, and what is said once these have been read."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsvm_cli.text.scaling import Scaling


def read_scale_file(path: "str | None", labels_path: "str | None" = None) -> "Scaling | None":
    """What --scale names, or None; labels_path: what --y-scale names. Raises FileError and DataFormatError."""
    if path is None:
        return None
    from fastsvm_cli.text.data import read_bytes
    from fastsvm_cli.text.scaling import parse_scaling, with_labels

    scaling = parse_scaling(read_bytes(path), path)
    return scaling if labels_path is None else with_labels(scaling, read_bytes(labels_path), labels_path)


def warn_of_scaling(scaling: "Scaling | None", quiet: bool) -> None:
    """What svm-scale warns of, on standard error, once all rows have been read."""
    if scaling is not None and not quiet:
        for line in scaling.warnings():
            print(line, file=sys.stderr)
