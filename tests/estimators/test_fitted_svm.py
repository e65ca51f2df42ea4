"""Programs that read fitted estimators without scikit-learn."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fastsvm_cli
from support.fitting import rows, tied
from support.processes import outcome

X, Y = rows()
WITHOUT = {
    "not loaded": (
        make_pipeline(StandardScaler(), SVC()).fit(X, np.array(["a", "b", "c"])[Y]),
        X,
        "import sys, fastsvm_cli\n"
        "assert not {'numpy', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "import pickle\n"
        "from fastsvm_cli.estimators import fitted_svm, compile\n"
        "fast, rows = pickle.load(open('fast', 'rb'))\n"
        "assert set(fast.predict(rows)) <= set(fast.classes_)\n"
        "assert 'sklearn' not in sys.modules\n",
    ),
    "svm-predict decides": (
        make_pipeline(StandardScaler(), SVC()).fit(*tied(2, 1)[:2]),
        tied(2, 1)[2],
        "import sys, pickle; sys.modules['sklearn'] = None\n"
        "fast, rows = pickle.load(open('fast', 'rb'))\n"
        "assert (fast.predict(rows) == fast.set_params(sklearn=None).predict(rows)).all()\n",
    ),
}


@pytest.mark.full(few=1)
@pytest.mark.parametrize("what", WITHOUT)
def test_a_pickle_answers_without_scikit_learn(what, tmp_path):
    estimator, asked, code = WITHOUT[what]
    (tmp_path / "fast").write_bytes(pickle.dumps((fastsvm_cli.compile(estimator), asked)))
    outcome([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_file_answers_without_numpy_until_it_is_asked_and_without_scikit_learn(folder, tmp_path):
    code = f"""
import sys, fastsvm_cli
assert not {{"numpy", "click"}} & set(sys.modules)
import numpy
fast = fastsvm_cli.load({str(folder / "colors.model.approx")!r}, exact={str(folder / "colors.model")!r})
X = numpy.zeros((3, fast.n_features_in_))
fast.predict(X), fast.decision_function(X), fast.predict_proba(X), fast.radius(X), fast.proven(X)
import copy, pickle
pickle.loads(pickle.dumps(copy.deepcopy(fast))).predict(X)
assert "<pre>FastSVM" in fast._repr_html_() and "FastSVM" in repr(fast)
assert not {{"sklearn", "scipy", "libsvm", "rich"}} & set(sys.modules)
"""
    outcome([sys.executable, "-c", code], cwd=tmp_path, check=True)
