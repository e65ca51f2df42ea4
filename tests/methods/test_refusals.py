"""Refusals of compilers: a sentence, which bench --try heeds. messages.txt has what commands print of a precomputed
kernel."""

from functools import partial
from math import inf

import pytest

from fastsvm_cli import _native
from fastsvm_cli.comparisons import Budget
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import feature_space, methods
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.methods.approx import expansion as maclaurin
from fastsvm_cli.methods.border import borders as border
from fastsvm_cli.methods.cascade import METHOD as cascade
from fastsvm_cli.methods.method import Setting
from fastsvm_cli.methods.order.orders import compile_geometry, reason_against
from fastsvm_cli.methods.reduce import reduction as reduced_set
from fastsvm_cli.models import parse_model
from support.messages import sentences
from support.paths import ROOT

GOLDEN = ROOT / "tests" / "golden"
COMPILERS = {
    "approx": maclaurin.reason_against,
    "reduce": reduced_set.reason_against,
    "border": border.reason_against,
    "order --method geometry": partial(reason_against, order="geometry"),
    "order --method triangle": partial(reason_against, order="triangle"),
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


def tried(model):
    """First words of the attempts of every method that takes the model, whatever their results."""
    found = []
    for method in methods():
        if method.reason_against(model) is None:
            search = method.search(model, Setting(Budget(0.005), 1.0, 10_000, inf))
            found += list(search)
    return {each.name if each.command == "order" else each.command for each in found}


@pytest.mark.parametrize("name", MODELS)
def test_compilers_say_why_and_bench_tries_what_is_not_refused(name):
    text, reasons = MODELS[name]
    model = parse_model(text, "m")
    for compiler, words in zip(COMPILERS.values(), reasons):
        found = compiler(model)
        assert found is None if words is None else found.startswith(words)
    names = {command for command, words in zip(COMPILERS, reasons) if words is None}
    names |= {"cascade"} if cascade.reason_against(model) is None else set()
    many = model.vectors is None or len(_native.used_indices(model.vectors)) > 3
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


def test_lengths_of_more_vectors_than_their_proofs_allow_are_refused(monkeypatch):
    """B27 to B29 of PROOFS.md: every compiler whose radii rest on them."""
    model = parse_model((GOLDEN / "c_svc.model").read_bytes(), "m")
    whys = {name: compiler(model) for name, compiler in COMPILERS.items()}
    monkeypatch.setattr(feature_space, "MOST_VECTORS", model.header.total_sv)
    assert whys == {name: compiler(model) for name, compiler in COMPILERS.items()}
    monkeypatch.setattr(feature_space, "MOST_VECTORS", model.header.total_sv - 1)
    found = {name for name, compiler in COMPILERS.items() if "expected at most" in (compiler(model) or "")}
    assert found == {"reduce", "order --method geometry"}
    for compiled in (
        lambda: reduced_set.lossless(model, "f"),
        lambda: reduced_set.compile_reduced_set(model, fingerprint="f", count=2),
        lambda: compile_geometry(model, fingerprint="f"),
    ):
        with pytest.raises(ModelFormatError, match="the rounding of longer sums is not proven"):
            compiled()
