"""Models with a border that is known, trained once."""

import pytest
from libsvm.svmutil import svm_read_problem

from support.bordering import trained_model, wavy_files
from support.places import DATA


@pytest.fixture(scope="module")
def wavy(tmp_path_factory):
    return wavy_files(tmp_path_factory.mktemp("wavy"))


@pytest.fixture(scope="module")
def colors(tmp_path_factory):
    y, x = svm_read_problem(str(DATA / "colors.train"))
    return trained_model(x[:300], y[:300], "-g 0.05 -b 1", tmp_path_factory.mktemp("colors") / "colors.model")
