"""Files of the zoo's kinds: the commands write those that fastsvm_cli.compile makes; LIBSVM reads reduced sets."""

import numpy as np
import pytest

from fastsvm_cli.models import load_model
from support import forked
from support.evaluation import parse
from support.in_process import Libsvm, written_lines
from zoo.kinds import KINDS, compiled, suits
from zoo.traits import TRAITS, specimen

COMPILED = [kind for kind in KINDS if KINDS[kind].method != "exact"]


def words(kind, labelled):
    """fastsvm's words for this kind. labelled: rows for a border."""
    of = KINDS[kind]
    method = ["order", "--method", of.method] if of.method in ("geometry", "triangle") else [of.method]
    for name, value in of.options.items():
        option = "--" + name.replace("_", "-")
        method += [option] if value is True else [option, str(value)]
    if of.method == "border":
        method += ["--data", labelled]
    return [*method, "-q"]


@pytest.mark.parametrize("kind", COMPILED)
def test_the_command_writes_the_same_file(zoo, tmp_path, kind):
    trait = "two_classes" if "rbf" in KINDS[kind].kernels else "linear"
    ours, exact = (compiled(trait, each, zoo) for each in (kind, "exact"))
    labelled = exact.with_name(exact.name.replace("exact", "labelled"))
    forked.fastsvm([*words(kind, labelled), exact, "theirs"], cwd=tmp_path, check=True)
    assert (tmp_path / "theirs").read_bytes() == ours.read_bytes()


@pytest.mark.usefixtures("serial_libsvm")
@pytest.mark.parametrize("trait", [trait for trait in TRAITS if suits(trait, "reduced")])
def test_libsvm_reads_a_reduced_set_and_gives_the_same_lines(zoo, trait):
    path, rows = compiled(trait, "reduced", zoo), specimen(trait).rows
    model, theirs = load_model(str(path)), Libsvm(path)
    theirs.likely_label = "%.17g"  # a documented difference: svm-predict prints 1e+06
    for probability in (False, True)[: 1 + model.header.has_probability]:
        ours = written_lines(model, [parse(rows)], probability=probability)[0].decode()
        ours, expected = [line.split() for line in ours.splitlines()], theirs.lines(rows, probability)
        if theirs.regression:
            np.testing.assert_allclose(np.array(ours, float), np.array(expected, float), rtol=1e-11, atol=1e-11)
        else:
            assert ours == expected
