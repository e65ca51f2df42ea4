#!/usr/bin/env python3
"""Draw the figure of `fastsvm bench --plot` from the output of `--json`.

    scripts/draw_bench.py bench.json figure.svg

The suffix sets the format: .svg, .png or .pdf. Needs matplotlib.
"""

import argparse
import json
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path)
    parser.add_argument("figure", type=Path)
    options = parser.parse_args()
    if options.figure.suffix not in (".svg", ".png", ".pdf"):
        parser.error(f"figures are .svg, .png or .pdf, and '{options.figure}' is none of them")

    from fastsvm_cli.figures import content, draw

    document = json.loads(options.bench.read_text())
    options.figure.write_bytes(content(draw(document), options.figure.suffix[1:]))


if __name__ == "__main__":
    main()
