"""Refusals of compilers: a sentence that the command prints, and that bench --try heeds."""

from math import inf

import pytest

from fastsvm_cli import _native
from fastsvm_cli.comparisons.budget import Budget
from fastsvm_cli.methods import methods
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.methods.approx import expansion as maclaurin
from fastsvm_cli.methods.border import signed_distance as border
from fastsvm_cli.methods.cascade import METHOD as cascade
from fastsvm_cli.methods.method import Setting
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


@pytest.mark.parametrize("name", MODELS)
def test_a_command_refuses_what_its_compiler_cannot_and_prints_the_reason(fastsvm, tmp_path, name):
    text, expected = MODELS[name]
    (tmp_path / "m").write_bytes(text)
    for (command, compiler), words in zip(COMPILERS.items(), expected):
        reason_against = compiler.reason_against(parse_model(text, "m"))
        assert (reason_against is None) == (words is None)
        if words is not None:
            assert reason_against.startswith(words)
            done = fastsvm(*command.split(), "-q", "m", "out", code=1)
            assert done.err == f"Error: m: {reason_against}\n" and not (tmp_path / "out").exists()


def tried(model):
    """First words of the attempts of every method that takes the model, whatever their results."""
    found = []
    for method in methods():
        if method.reason_against(model) is None:
            search = method.search(model, Setting(Budget(0.005), 1.0, 10_000, inf))
            found += list(search)
    return {each.name if each.command == "order" else each.command for each in found}


@pytest.mark.parametrize("name", MODELS)
def test_bench_tries_what_is_not_refused(name):
    text, reasons_against = MODELS[name]
    model = parse_model(text, "m")
    accepted = [command for command, reason_against in zip(COMPILERS, reasons_against) if reason_against is None]
    accepted += ["cascade"] * (cascade.reason_against(model) is None)
    names = {command if command.startswith("order") else command.split()[0] for command in accepted}
    many = len(_native.used_indices(model.vectors)) > 3 if model.vectors is not None else True
    assert tried(model) == names - ({"border"} if many else set())


def test_bench_draws_no_lines_between_the_vectors_of_one_class():
    model = parse_model((GOLDEN / "one_class.model").read_bytes(), "m")
    assert border.reason_against(model) is None and border.needs_rows(model)
    assert "border" not in tried(model)


def test_a_certificate_that_would_be_refused_is_not_tried():
    text = (GOLDEN / "c_svc.model").read_bytes().replace(b"rho -0.20587852016516031", b"rho 2e30")
    model = parse_model(text, "m")
    assert "rho of size 2e+30" in certificates.reason_against(model)
    (approx,) = (each for each in methods() if each.name == "approx")
    assert not [each for each in approx.search(model, Setting(Budget(0.005), 1.0, 10_000, inf)) if each.exact]
