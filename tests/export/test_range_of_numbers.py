"""Numbers of the whole range of doubles: exported models answer as fastsvm predict, or are refused in one line."""

import re

import numpy as np
import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError, RowError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.check import compare
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.export.rounding import longest_row, tolerance
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.border.borders import compile_border
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from support.evaluation import reference
from support.exporting import Library, chunk_of, compiled, graph_run, made_up, predicted, rows_for
from support.messages import cases
from support.oracles import Machine
from support.profiles import calm

EXPONENTS = st.one_of(st.integers(-320, 307), st.integers(-48, 40), st.integers(-3, 3))
KERNELS = st.sampled_from(["linear", "polynomial", "rbf", "sigmoid"])
#: Models per run of the compiler.
AT_ONCE = 4


def in_range(value):
    return float(np.clip(value, -1.7e308, 1.7e308))


@st.composite
def models(draw):
    """(text, rows): numbers of any size; gamma is often such that kernel values vary."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kernel, d, n = draw(KERNELS), draw(st.integers(1, 4)), 6
    size, weight, shift = draw(EXPONENTS), draw(EXPONENTS), draw(st.one_of(st.none(), EXPONENTS))
    fits = -2 * size if abs(2 * size) < 308 else None
    gamma = 10.0 ** draw(st.one_of(st.just(fits), EXPONENTS) if fits is not None else EXPONENTS)
    gamma *= draw(st.sampled_from([1.0, 1.0, -0.5])) * rng.uniform(0.5, 2)
    coef0 = draw(st.sampled_from([0.0, 1.0, -0.5])) or 10.0 ** draw(EXPONENTS) * rng.uniform(-1, 1)
    mixed = draw(st.booleans())
    with np.errstate(all="ignore"):
        x = rng.normal(size=(n, d)) * 10.0**size
        if mixed:
            x[1:] *= 10.0 ** rng.integers(-60, 1, size=(n - 1, d))
        a = rng.uniform(0.1, 1, size=n) * 10.0**weight * ([1] * (n // 2) + [-1] * (n // 2))
        rows = np.vstack([x[:2], rng.normal(size=(6, d)) * 10.0**size])
    rho = 0.0 if shift is None else 10.0**shift * rng.uniform(-1, 1)
    vectors = [{j + 1: in_range(value) for j, value in enumerate(row)} for row in x]
    parameters = dict(gamma=in_range(gamma), coef0=in_range(coef0), degree=draw(st.integers(0, 4)))
    coef, halves = np.array([[in_range(each)] for each in a]), [n // 2, n // 2]
    machine = Machine("c_svc", kernel, vectors, coef, [in_range(rho)], label=[3, -1], nr_sv=halves, **parameters)
    return machine.text(), np.clip(np.nan_to_num(rows), -1.7e308, 1.7e308)


def check(model, description, rows, single, values, graph):
    """Answers are predict's where rounding cannot change them."""
    chunk = chunk_of(rows)
    with np.errstate(all="ignore"):
        labels, expected, _ = predicted(model, chunk)
        of_kernels = model.proves and model.header.kernel_type != "linear"  # weights of a linear kernel are added up
        expected = reference(model, chunk) if of_kernels else expected
        allowed = tolerance(description, chunk, single)
        if model.proves and not of_kernels:  # products of LIBSVM underflow, which those with weights may not
            allowed = allowed + rows.shape[1] * 2.0**-1074 * np.abs(model.vectors.leading).sum()
        # At the end of doubles, the order of a sum decides whether it overflows.
        sure = ((abs(expected) > allowed) & (abs(expected) < 1e300)).ravel()
        for found in (values, graph["values"]):
            assert np.array_equal(np.where(found[sure, 0] > 0, *description.header.label), labels[sure])
            assert (abs(found - expected)[sure] <= allowed[sure]).all()
        assert np.array_equal(graph["label"][sure], labels[sure])
        if not single and of_kernels:
            assert np.array_equal(values, expected, equal_nan=True)
            assert np.array_equal(np.where(values[:, 0] > 0, *description.header.label), labels)


@pytest.mark.full
@settings(calm(30), phases=[Phase.generate])  # a smaller failing list would cost minutes of compiling
@given(drawn=st.lists(models(), min_size=AT_ONCE, max_size=AT_ONCE))
def test_models_with_numbers_of_any_size_answer_alike_or_are_refused(tmp_path, drawn):
    made = []
    for at, (text, rows) in enumerate(drawn):
        model = parse_model(text, "m")
        description = describe(model, "m", inputs=rows.shape[1])
        made.append((text, model, rows, Program(description, single=False, prefix=f"d{at}")))
        try:
            program = Program(description, single=True, prefix=f"s{at}")
        except ModelFormatError as reason_against:
            assert "--precision double" in str(reason_against)
            with pytest.raises(ModelFormatError, match="--precision double"):
                model_of(description, True)
            continue
        with np.errstate(over="ignore", under="ignore"):
            made.append((text, model, rows.astype(np.float32), program))
    library = compiled([program for *_, program in made], tmp_path, flags=("-O0",))
    for text, model, rows, program in made:
        note(text.decode())
        values = Library(program, tmp_path, library).values(rows)
        graph = graph_run(program.description, program.single, rows)
        check(model, program.description, rows, program.single, values, graph)


def with_words(model, **words):
    """The model with other numbers: of lines of its header, or the first coefficient (`first`)."""
    text = model.to_text().decode()
    for name, number in words.items():
        text = re.sub(r"(?<=\nSV\n)\S+" if name == "first" else rf"(?<=\n{name} )\S+", repr(number), text)
    return parse_model(text.encode(), "m")


#: Numbers beyond single precision, or whose products are.
BEYOND = dict(cases("numbers beyond single precision"))


def test_a_model_beyond_single_precision_is_refused_in_one_line():
    for kernel, text in [(kernel, text) for kernel, texts in BEYOND.items() for text in texts]:
        words = {name: float(number) for name, number in zip(text.split()[::2], text.split()[1::2])}
        exact = made_up(5, kernel=kernel.split(",")[0], probability=True)
        description = describe(with_words(exact, **words), "m")
        for write in (lambda of, single: Program(of, single=single, prefix="m").source(), model_of):
            with pytest.raises(ModelFormatError, match=r"^m: [^\n]* --precision double$"):
                write(description, True)
            assert write(description, False)


@pytest.mark.full
def test_small_numbers_beside_larger_ones_are_no_reason_to_refuse(tmp_path):
    """Also in an expansion: monomials whose features never reach the size that would make them count."""
    tiny = compile_maclaurin(with_words(made_up(2), gamma=1e-9), fingerprint="f", degree=4, single=False)
    made = {"expansion": tiny}
    for kernel in ("rbf", "polynomial", "linear"):
        for words in ({"first": 1e-50}, {"gamma": 1e-12}, {"gamma": 1e3}, {"rho": 1e-50}):
            text = with_words(made_up(5, kernel=kernel), **words).to_text()
            changed = re.sub(rb"(?<= 3:)\S+", b"1e-50", text, count=3)
            made[f"{kernel}_{len(made)}"] = parse_model(changed, "m")
    programs = {name: Program(describe(model, "m"), single=True, prefix=name) for name, model in made.items()}
    library = compiled(list(programs.values()), tmp_path, flags=("-O0",))
    for name, model in made.items():
        description = programs[name].description
        rows = rows_for(1, description.inputs)
        values = Library(programs[name], None, library).values(rows)
        check(model, description, rows, True, values, graph_run(description, True, rows))


def test_rows_beyond_single_precision_are_told():
    model, rows = made_up(1), np.zeros((2, 5))
    rows[1, 2] = 1e39
    with pytest.raises(RowError, match=r"row 1: 1e\+39 found, [^\n]* --precision double$"):
        compare(model, describe(model, "m"), True, lambda chunk: (rows, rows), [chunk_of(rows)])


def test_python_names_its_own_argument(tmp_path):
    (tmp_path / "model").write_bytes(with_words(made_up(1), gamma=1e39).to_text())
    with pytest.raises(fastsvm_cli.FastsvmError, match=r'precision="double"$'):
        fastsvm_cli.load(tmp_path / "model").export(tmp_path / "m.c")


FAR = np.array([[2e38, -1e38, 1, 0, 0], [1e20, 0, -1e20, 0, 1], [0, 3e38, 3e38, 3e38, 3e38], [1e19, 2e19, 0, 0, 0]])


@pytest.mark.parametrize("single", [True, False])
def test_rows_of_any_length_have_the_kernel_value_0(tmp_path, single):
    """A distance beyond the range is infinite, no difference of two infinities."""
    rows = FAR if single else np.vstack([FAR, 1e200 * FAR[1:2], 1e269 * FAR])
    exact = made_up(1)
    models = [exact, made_up(2, classes=3), compile_reduced_set(exact, fingerprint="f", count=5).model]
    models += [compile_maclaurin(exact, fingerprint="f", degree=3, certify=certify) for certify in (False, True)]
    for at, model in enumerate(models):
        description = describe(model, "m")
        with np.errstate(all="ignore"):
            labels, values, _ = predicted(model, chunk_of(rows))
        assert longest_row(description, single) is None
        program = Program(description, single=single, prefix=f"m{at}")
        found, c = graph_run(description, single, rows), Library(program, tmp_path)
        for answered, label in ((found["values"], found["label"]), (c.values(rows), c.predict(rows))):
            assert np.allclose(answered, values, rtol=1e-5, atol=1e-6) and np.array_equal(label, labels)
        if model.certified:
            assert np.isinf(found["radius"]).all() or (abs(found["values"] - values) <= found["radius"]).all()


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "sigmoid", "expansion", "border"])
def test_rows_up_to_the_stated_length_do_not_overflow(tmp_path, kernel):
    model = made_up(3, kernel={"expansion": "polynomial", "border": "rbf"}.get(kernel, kernel))
    if kernel == "expansion":
        model = compile_maclaurin(model, fingerprint="f")
    if kernel == "border":
        model = compile_border(model, fingerprint="f").model
    description = describe(model, "m")
    length = longest_row(description, True)
    assert length >= 1e9 and longest_row(description, False) is None
    directions = rows_for(4, description.inputs, full=1.0).astype(float)
    rows = length * directions / np.sqrt((directions**2).sum(axis=1))[:, None]
    program = Program(description, single=True, prefix="m")
    assert f"beyond {length:g} may overflow" in program.header()
    marks = {each.key: each.value for each in model_of(description, True).metadata_props}
    assert float(marks["fastsvm.longest_row"]) == length
    _, values, _ = predicted(model, chunk_of(rows))
    for answered in (graph_run(description, True, rows)["values"], Library(program, tmp_path).values(rows)):
        assert np.isfinite(answered).all()
        if kernel != "border":  # which sample is nearest depends on rounding, in double precision, too
            assert (abs(answered - values) <= 1e-4 * abs(values).max()).all()


def test_the_comparison_shows_values_that_are_no_numbers():
    model, rows = made_up(1), rows_for(1, 5)
    shown = compare(
        model, describe(model, "m"), True, lambda chunk: (np.zeros(40), np.full((40, 1), np.nan)), [chunk_of(rows)]
    )
    assert shown.largest == np.inf
