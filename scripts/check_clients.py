#!/usr/bin/env python3
"""Check that LIBSVM's svm-predict.c, unchanged, answers the same when linked with libfastsvm.

    scripts/check_clients.py --prefix PREFIX --libsvm DIR... [--rows N] [--only WORD] shared_dir

PREFIX: where `cmake --install` put libfastsvm. DIR: svm.cpp, svm.h and svm-predict.c of a LIBSVM version. In
shared_dir, models/NAME_*.model predict data/NAME.t; published/*.model predict N rows (500) by published/make_rows.py;
with -b 0 and -b 1. Files, output and exit codes must be equal, regression values to 1e-9 of the largest. --only: models
whose names contain WORD. Exit code 1 on a difference.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--libsvm", type=Path, action="append", required=True)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("shared", type=Path)
    return parser.parse_args()


def run(*command):
    subprocess.run(list(map(str, command)), check=True)


def build(source, prefix, folder):
    folder.mkdir()
    theirs, ours = folder / "theirs", folder / "ours"
    compiler = os.environ.get("CC", "cc")
    run(
        os.environ.get("CXX", "c++"),
        "-O3",
        "-w",
        "-o",
        theirs,
        source / "svm.cpp",
        "-x",
        "c++",
        source / "svm-predict.c",
    )
    # A source next to LIBSVM's svm.h includes that one.
    shutil.copy(source / "svm-predict.c", folder)
    library = next(path for path in (prefix / "lib", prefix / "lib64") if any(path.glob("libfastsvm.*")))
    include = f"-I{prefix / 'include'}", f"-I{prefix / 'include/libsvm-on-fastsvm'}"
    linked = f"-L{library}", "-lfastsvm", f"-Wl,-rpath,{library}"
    run(compiler, "-O2", "-w", "-o", ours, folder / "svm-predict.c", *include, *linked)
    return theirs, ours


def answered(program, options, data, model, output):
    output.unlink(missing_ok=True)
    done = subprocess.run([program, *options, data, model, output], capture_output=True, text=True, cwd=output.parent)
    return done.returncode, done.stdout, done.stderr, output.read_text() if output.exists() else None


def difference(theirs, ours, regression):
    if theirs[0] != ours[0] or theirs[2] != ours[2]:
        return True, f"exit {theirs[0]} {theirs[2]!r} and {ours[0]} {ours[2]!r}"
    if theirs == ours:
        return False, "the same"
    if not regression:
        lines = zip(theirs[3].split("\n"), ours[3].split("\n"))
        return True, f"{sum(a != b for a, b in lines)} lines, or the summary: {theirs[1]!r} and {ours[1]!r}"
    there, here = ([float(line) for line in answer[3].split()] for answer in (theirs, ours))
    scale = max(map(abs, there), default=1)
    largest = max((abs(a - b) for a, b in zip(there, here)), default=0)
    within = len(there) == len(here) and largest <= 1e-9 * scale and theirs[1] == ours[1]
    about = f"values {largest:.1g} apart, the largest of which is {scale:.2g}"
    return not within, about if within else f"{about}, or the summary: {theirs[1]!r} and {ours[1]!r}"


def cases(options, folder):
    def models(place):
        return [path for path in sorted((options.shared / place).glob("*.model")) if options.only in path.stem]

    for model in models("models"):
        yield model, options.shared / "data" / f"{model.name.split('_')[0]}.t"
    for model in models("published"):
        rows = folder / f"{model.stem}.rows"
        run(sys.executable, options.shared / "published" / "make_rows.py", model, options.rows, rows)
        yield model, rows


def main():
    options = parsed()
    differ = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = [build(each, options.prefix, folder / str(at)) for at, each in enumerate(options.libsvm)]
        for model, rows in cases(options, folder):
            header = model.read_text(errors="replace")[:200]
            regression = "svr" in header.split("\n", 1)[0]
            for source, (theirs, ours) in zip(options.libsvm, programs):
                for words in ([], ["-b", "1"]):
                    answers = [answered(program, words, rows, model, folder / "out") for program in (theirs, ours)]
                    different, about = difference(*answers, regression)
                    differ += different
                    print(f"{source.name}  {model.name}  {' '.join(words) or '-b 0'}  {about}", flush=True)
    sys.exit(differ > 0)


main()
