"""fastsvm reduce: arguments, output and errors; the line after the last vector."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.checksums import line_with_checksum
from support.evaluation import parse, values
from support.messages import no_pair, not_finite, not_whole
from support.oracles import Machine, data_text, random_rows
from support.paths import DATA
from support.processes import PATIENCE, default_signals
from support.reducing import split

pytestmark = pytest.mark.usefixtures("serial_libsvm")

# ---- the command


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "how many vectors? Say --vectors L, --ratio R or --target E (or --lossless)"),
        (["--vectors", 5, "--ratio", 0.1], "--vectors and --ratio do not go together"),
        (["--vectors", 5, "--target", 0.1], "--vectors and --target do not go together"),
        (["--target", 0.1, "--lossless"], "--target and --lossless do not go together"),
        (["--vectors", 0], "'0' found, expected a whole number of 1 or more"),
        (["--ratio", 0], "expected a share above 0, up to 1"),
        (["--ratio", 1.5], "expected a share above 0, up to 1"),
        (["--target", 0], "'0' found, expected a number above 0, as 0.005 or 0.5%"),
        (["--vectors", 5, "--init", "best"], "best"),
        (["--vectors", 5, "--optimizer", "adam"], "adam"),
        (["--lossless", "--no-finish"], "--lossless places no vectors"),
        (["--target", 0.1, "--init", "cluster"], "kernel k-means"),
    ],
)
def test_wrong_usage_is_exit_code_2(fastsvm, tmp_path, trained, arguments, words):
    done = fastsvm("reduce", *arguments, trained["rings"][0], code=2)
    assert words in done.err and done.out == "" and os.listdir(tmp_path) == []


@pytest.mark.full
@pytest.mark.parametrize(
    "kernel, option",
    [(kernel, ["--lossless"]) for kernel in ("linear", "precomputed", "negative gamma")]
    + [(kernel, ["--vectors", 2]) for kernel in ("polynomial", "negative gamma")],
)
def test_other_kernels_are_refused_in_one_line(fastsvm, tmp_path, kernel, option):
    """Lossless reduction may give a model of that kernel."""
    vectors = [{0: at} for at in (1, 1, 2)] if kernel == "precomputed" else [{1: 1.0}, {1: 1.0}, {2: 1.0}]
    machine = Machine(
        "c_svc",
        "rbf" if kernel == "negative gamma" else kernel,
        vectors,
        np.array([[1.0], [0.5], [-1.0]]),
        [0.1],
        0.5,
        0.1,
        2,
        [1, -1],
        [2, 1],
    )
    if kernel == "negative gamma":
        machine.gamma = -0.5
    (tmp_path / "m").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(
        data_text([{0: 1, 1: 1.0, 2: 0.3} if kernel == "precomputed" else {1: 3.0, 2: -3.0}])
    )
    done = fastsvm("reduce", *option, "m", "out", code=None)
    if done.code == 0 and option == ["--lossless"]:
        before, after = (fastsvm("predict", "-q", "--values", "rows", file).out.split() for file in ("m", "out"))
        assert float(after[1]) == pytest.approx(float(before[1]), rel=1e-12)
        if len(after) > 2:  # a radius
            assert abs(float(after[1]) - float(before[1])) <= float(after[2])
        return
    assert done.code == 1 and done.out == "" and not (tmp_path / "out").exists()
    what = "an rbf kernel with gamma -0.5" if kernel == "negative gamma" else f"a {kernel} kernel"
    assert done.err == f"Error: m: {what} found; reduce places vectors for rbf kernels with gamma 0 or more\n"


@pytest.mark.full
def test_errors_are_one_line_and_the_previous_output_stays(fastsvm, tmp_path, trained):
    model = trained["rings"][0]
    (tmp_path / "bad").write_text("1 1:1\n1 foo\n")
    (tmp_path / "broken").write_bytes(model.read_bytes()[:-20])
    (tmp_path / "out").write_text("before\n")
    listing = sorted(os.listdir(tmp_path))
    for arguments, message in (
        (["broken", "out"], "broken:"),
        (["--data", "bad", model, "out"], f"bad:2: {no_pair('foo')}"),
        (["--data", "nowhere", model, "out"], "nowhere: No such file or directory"),
        ([model, "nowhere/out"], "nowhere/out: No such file or directory"),
        ([model, "/dev/full"], "/dev/full: No space left on device"),
    ):
        done = fastsvm("reduce", "--vectors", 3, *arguments, code=1)
        assert done.err.startswith(f"Error: {message}") and done.err.count("\n") == 1 and done.out == "", str(done)
        assert (tmp_path / "out").read_text() == "before\n" and sorted(os.listdir(tmp_path)) == listing


def test_rows_without_any_do_not_stand_for_others(fastsvm, tmp_path, trained):
    """An empty --data file is not replaced by the support vectors."""
    (tmp_path / "empty").write_text("")
    done = fastsvm("reduce", "--vectors", 3, "--data", "empty", trained["rings"][0], "out", code=None)
    printed = re.search(r"labels that differ on (.*): \d+ of (\d+)", done.out)
    assert done.code == 1 or printed[1] == "the support vectors" or printed[2] == "0", str(done)


@pytest.mark.full
def test_standard_output_standard_input_and_the_default_name(fastsvm, tmp_path, trained):
    model = trained["rings"][0]
    done = fastsvm("reduce", "--vectors", 10, "--no-finish", model)
    assert os.listdir(tmp_path) == ["rings.model.reduced"]
    assert re.fullmatch(r"Warning: .* of these labels are not the exact model's.*\n", done.err)
    text = (tmp_path / "rings.model.reduced").read_text()
    piped = fastsvm("reduce", "--vectors", 10, "--no-finish", "-", input=model.read_bytes())
    assert piped.out == text and piped.err == done.out.replace(": rings.model.reduced", ": standard output") + done.err
    quiet = fastsvm("reduce", "-q", "--vectors", 10, "--no-finish", model, "-")
    assert quiet.out == text and quiet.err == ""


@pytest.mark.full
def test_fixed_point_iteration_that_stalls_gives_fewer_vectors_and_says_so(fastsvm, tmp_path, trained):
    """iRprop+ reaches the number."""
    model, test = trained["waves"]
    options = ["--vectors", 40, "--init", "random", "--no-finish"]
    done = fastsvm("reduce", *options, "--optimizer", "fixed-point", model, "stalled")
    count = int(re.search(r"-> (\d+) vectors", done.out)[1])
    assert 1 <= count < 40
    assert done.err.startswith(
        f"Warning: fixed-point iteration came to no rest, so that there are {40 - count} vectors fewer than wanted;"
        " --optimizer irprop reaches any number.\n"
    )
    assert len(split((tmp_path / "stalled").read_bytes())[0].vectors) == count
    assert np.isfinite(np.array(fastsvm("predict", "-q", test, "stalled").out.split(), float)).all()
    done = fastsvm("reduce", *options, "--optimizer", "irprop", model, "placed")
    assert "-> 40 vectors" in done.out and "rest" not in done.err


@pytest.mark.full
@pytest.mark.parametrize("init", ["greedy", "random", "alpha", "cluster"])
def test_fixed_point_iteration_that_places_no_vector_is_an_error(fastsvm, tmp_path, init):
    """Two rings whose coefficients nearly cancel."""
    y, x = svm_read_problem(str(DATA / "rings.train"))
    svm_save_model(str(tmp_path / "m"), svm_train(y[:120], x[:120], "-q -g 0.5 -c 10"))
    (tmp_path / "out").write_text("before\n")
    for options in ([], ["--no-finish"], ["-q"]):
        done = fastsvm(
            "reduce", "--vectors", 3, "--init", init, "--optimizer", "fixed-point", *options, "m", "out", code=1
        )
        assert (
            done.err
            == "Error: m: fixed-point iteration came to no rest from any of its starts, so that there is no vector to"
            " write: --optimizer irprop reaches any number\n"
            and done.out == ""
        )
        assert (tmp_path / "out").read_text() == "before\n"
    assert "-> 3 vectors" in fastsvm("reduce", "--vectors", 3, "--init", init, "--optimizer", "irprop", "m", "out").out


@pytest.mark.full
def test_ctrl_c_leaves_the_previous_output_and_the_bar_shows_how_the_distance_falls(tmp_path):
    """The bar appears on a terminal after a second, at once with this clock, which advances a minute each time it is
    read. It shows when the descent has begun."""
    y, x = svm_read_problem(str(DATA / "rings.train"))
    svm_save_model(str(tmp_path / "m"), svm_train(y, x, "-q -g 5 -c 0.1"))  # half a minute of work
    (tmp_path / "out").write_text("before\n")
    screen, terminal = pty.openpty()
    code = (
        "import itertools, sys; from fastsvm_cli import start; from fastsvm_cli.console import progress;"
        " progress.monotonic = itertools.count(0, 60).__next__; start.run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code, "reduce", "--vectors", "1200", "m", "out"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        start_new_session=True,
        preexec_fn=default_signals,
    )
    os.close(terminal)
    seen, deadline = b"", time.monotonic() + PATIENCE
    while b"squared distance" not in seen and time.monotonic() < deadline and process.poll() is None:
        if select.select([screen], [], [], 0.5)[0]:
            seen += os.read(screen, 4096)
    assert re.search(rb"reduce\x1b?\S* squared distance", seen), seen[-500:]
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    try:
        while select.select([screen], [], [], 0.1)[0]:
            seen += os.read(screen, 4096)
    except OSError:  # the other end is closed
        pass
    os.close(screen)
    assert b"Traceback" not in seen and process.stdout.read() == b""
    assert sorted(os.listdir(tmp_path)) == ["m", "out"] and (tmp_path / "out").read_text() == "before\n"


# ---- the line after the last vector


SMALL = Machine(
    "c_svc", "rbf", [{1: 1.0}, {2: 0.5}], np.array([[0.5], [-0.5]]), [0.1], gamma=0.5, label=[1, -1], nr_sv=[1, 1]
)
LINE = line_with_checksum(
    SMALL.text() + b"fastsvm_reduced 2 0123456789abcdef0123456789abcdef 30 8 0.25 12.5 CHECKSUM\n"
).removeprefix(SMALL.text())
NUMBER = SMALL.text().count(b"\n") + 1  # its line number


def test_the_line_is_read_back():
    model = parse_model(SMALL.text() + LINE, "m")
    assert model.origin is not None and model.fingerprint == "0123456789abcdef0123456789abcdef"
    origin = model.origin
    assert (origin.radius, origin.weight, origin.count, origin.longest) == ([0.25], [12.5], 30, 8)
    assert model.to_text() == parse_model(model.to_text(), "m").to_text() == line_with_checksum(model.to_text())
    assert model.to_text().splitlines()[-1].split()[:-1] == LINE.split()[:-1]
    assert parse_model((SMALL.text() + LINE).replace(b"\n", b"\r\n"), "m").origin.radius == [0.25]


def test_a_libsvm_model_without_the_line_is_one_as_before():
    model = parse_model(SMALL.text(), "m")
    assert model.origin is None and not model.certified and b"fastsvm" not in model.to_text()
    rows = random_rows(np.random.default_rng(30), 20, [1, 2, 3])
    np.testing.assert_array_equal(
        values(model, parse(rows)), values(parse_model(SMALL.text() + LINE, "m"), parse(rows))
    )


WORDS = LINE.split()
ERRORS = {
    "a word too few": (
        b" ".join([*WORDS[:-2], WORDS[-1]]) + b"\n",
        "7 words in the line 'fastsvm_reduced' found, expected 8",
    ),
    "a word too many": (b" ".join([*WORDS, b"1"]) + b"\n", "9 words in the line 'fastsvm_reduced' found, expected 8"),
    "nothing but its name": (
        b"fastsvm_reduced \n",
        "version '' of the line 'fastsvm_reduced' found, this fastsvm reads 2",
    ),
    "version 3": (
        LINE.replace(b" 2 ", b" 3 ", 1),
        "version '3' of the line 'fastsvm_reduced' found, this fastsvm reads 2",
    ),
    "nan": (LINE.replace(b"0.25", b"nan"), f"fastsvm_reduced {not_finite('nan')}"),
    "inf": (LINE.replace(b"12.5", b"inf"), f"fastsvm_reduced {not_finite('inf')}"),
    "no number": (LINE.replace(b"0.25", b"0.2.5"), f"fastsvm_reduced {not_finite('0.2.5')}"),
    "half a vector": (LINE.replace(b" 30 ", b" 3.5 "), f"fastsvm_reduced {not_whole('3.5')}"),
    "a negative radius": (LINE.replace(b" 0.25", b" -0.25"), "a negative number in the line 'fastsvm_reduced' found"),
    "cut off": (LINE[:-4], None),
    "without its end": (LINE[:-1], None),
    "text after it": (LINE + b"more\n", None),
    "twice": (LINE * 2, None),
    "another name": (
        LINE.replace(b"reduced", b"reducex"),
        "text found after the 2 support vectors that total_sv announces: a line of fastsvm's that was changed",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_invalid_line_is_refused_in_one_clear_line(name):
    line, message = ERRORS[name]
    if line[16:18] == b"2 " and line.endswith(b"\n") and line.count(b"\n") == 1:
        line = line_with_checksum(SMALL.text() + line).removeprefix(
            SMALL.text()
        )  # so that the error itself is reported
    with pytest.raises(ModelFormatError) as caught:
        parse_model(SMALL.text() + line, "m")
    assert re.match(rf"m:({NUMBER}|{NUMBER + 1}): \S", str(caught.value)) and "\n" not in str(caught.value)
    if message:
        assert str(caught.value) == f"m:{NUMBER}: {message}"


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_the_line_belongs_to_rbf_models(kernel):
    machine = Machine("c_svc", kernel, [{0: 1}, {0: 2}], SMALL.coef, [0.1], label=[1, -1], nr_sv=[1, 1])
    with pytest.raises(ModelFormatError):
        parse_model(machine.text() + LINE, "m")


@pytest.mark.parametrize("line", [None, b"fastsvm_reduced 3 x 1 1 1 1\n"])
def test_svm_predict_does_not_mind_the_line(svm_predict, tmp_path, line):
    """A later version's line does not matter either."""
    (tmp_path / "rows").write_bytes(data_text([{1: 1.0}, {2: 1.0}, {}]))
    written = []
    for name, text in (("plain", SMALL.text()), ("reduced", SMALL.text() + (line or LINE))):
        (tmp_path / name).write_bytes(text)
        subprocess.run([svm_predict, "rows", name, "out"], cwd=tmp_path, check=True, capture_output=True)
        written.append((tmp_path / "out").read_text())
    assert written[0] == written[1] == "1\n-1\n-1\n"
