"""Refusals of compilers: a sentence that the command prints, and that bench --try heeds."""

from math import inf

import pytest
from fastsvm_cli.benchmarks.attempts import compile_attempts

from fastsvm_cli.methods import attempts
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.methods.approx import expansion as maclaurin
from fastsvm_cli.methods.border import signed_distance as border
from fastsvm_cli.methods.cascade import METHOD as cascade
from fastsvm_cli.methods.order import geometry, triangle
from fastsvm_cli.methods.reduce import reduction as reduced_set
from fastsvm_cli.models import parse_model
from support.messages import sentences
from support.paths import ROOT

GOLDEN = ROOT / "tests" / "golden"
COMPILERS = {
    "approx": maclaurin,
    "reduce --ratio 0.5": reduced_set,
    "border --samples 5": border,
    "order --method geometry": geometry,
    "order --method triangle": triangle,
}


def model(words):
    """A golden file, or the golden two-class model with another kernel."""
    lines = (GOLDEN / "c_svc.model").read_text().split("\n")
    other = "\n".join([lines[0], *words.split(", "), *lines[3:]]).encode()
    return (GOLDEN / words).read_bytes() if (GOLDEN / words).exists() else other


#: Model -> (its file, the first words of each reason, None where it is compiled).
MODELS = {
    words: (model(words), [None if each == "-" else each for each in reasons_against])
    for words, *reasons_against in (case.values for case in sentences("refusals"))
}


REFUSED = [
    (command, name, words)
    for name, (_, reasons_against) in MODELS.items()
    for command, words in zip(COMPILERS, reasons_against)
    if words is not None
]


@pytest.mark.full
@pytest.mark.parametrize("command, name, words", REFUSED)
def test_a_command_prints_its_compilers_reason(fastsvm, tmp_path, command, name, words):
    text, _ = MODELS[name]
    (tmp_path / "m").write_bytes(text)
    reason_against = COMPILERS[command].reason_against(parse_model(text, "m"))
    assert reason_against is not None and reason_against.startswith(words)
    done = fastsvm(*command.split(), "-q", "m", "out", code=1)
    assert done.err == f"Error: m: {reason_against}\n" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("command", COMPILERS)
def test_a_compiler_refuses_what_it_cannot_compile_and_nothing_else(command, name):
    text, reasons_against = MODELS[name]
    reason_against = COMPILERS[command].reason_against(parse_model(text, "m"))
    assert (reason_against is None) == (reasons_against[list(COMPILERS).index(command)] is None)


@pytest.mark.parametrize("name", MODELS)
def test_bench_tries_what_is_not_refused(name):
    text, reasons_against = MODELS[name]
    model = parse_model(text, "m")
    # With fewer vectors, bench's ratios are too small for reduce.
    model = model.with_header(model.header.changed(total_sv=max(model.header.total_sv, 1000)))
    found = attempts(model, 1e9, 1e9)
    names = {each.name if each.name.startswith("order") else each.arguments[0] for each in found}
    accepted = [command for command, reason_against in zip(COMPILERS, reasons_against) if reason_against is None]
    accepted += ["cascade"] * (cascade.reason_against(model) is None)
    assert names == {command if command.startswith("order") else command.split()[0] for command in accepted}
    assert not [each.name for each in found if each.refused is not None]


def test_bench_draws_no_lines_between_the_vectors_of_one_class():
    model = parse_model((GOLDEN / "one_class.model").read_bytes(), "m")
    assert border.reason_against(model) is None and border.needs_rows(model)
    assert "border" not in {each.arguments[0] for each in attempts(model, 1e9, 1e9)}


@pytest.mark.full
def test_a_certificate_that_would_be_refused_is_a_row_that_says_why(fastsvm, tmp_path, monkeypatch):
    """In the command's words, without running it."""
    text = (GOLDEN / "c_svc.model").read_bytes().replace(b"rho -0.20587852016516031", b"rho 2e30")
    (tmp_path / "m").write_bytes(text)
    done = fastsvm("approx", "--certify", "m", code=1)
    model = parse_model(text, "m")
    assert done.err == f"Error: m: {certificates.reason_against(model)}\n" and "rho of size 2e+30" in done.err

    class Bench:
        exact_file, folder, cases = "m", str(tmp_path), []

        def thread_words(self):
            return []

        def seconds_to_measure(self, *_):
            return 0.0

    class Onlooker:
        def begins(self, what):
            pass

        def ended(self, cases):
            assert cases == Bench.cases[-1:]

    def started(*_, **__):
        raise AssertionError

    monkeypatch.setattr("fastsvm_cli.benchmarks.child_processes.run", started)
    tried = [each for each in attempts(model, 1e9, 1e9) if "--certify" in each.arguments]
    assert [each.name for each in tried] == ["approx --degree 2 --certify", "approx --degree 3 --certify"]
    compile_attempts(Bench(), tried, [], 1.0, Onlooker(), budget=0.005, limit=1.0, deadline=inf)
    assert [f"Error: m: {case.failed}\n" for case in Bench.cases] == [done.err] * 2
