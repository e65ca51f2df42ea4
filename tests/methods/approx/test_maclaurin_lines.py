"""Lines of Maclaurin models, whatever threads, chunks and neighbours; benchmark data."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.pipeline import Fallback, predict
from fastsvm_cli.text.read_rows import read_chunks
from support.expanding import compiled, decide, gaussian
from support.in_process import written_lines
from support.oracles import data_text, random_rows

# ---- the pipeline


@pytest.mark.full
def test_lines_depend_neither_on_threads_nor_on_chunks_nor_on_neighbours(tmp_path, all_threads):
    rng = np.random.default_rng(22)
    machine, _ = gaussian(rng, nr_class=3, d=30, density=0.5, probability=True)
    rows = [row for density in (0.1, 0.4, 1.0) for row in random_rows(rng, 200, machine.features, density=density)]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    (tmp_path / "rows").write_bytes(data_text(rows))
    for model in (compiled(machine), compiled(machine, center="origin")):
        seen, tallies = set(), set()
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            for size in (1, 5000, 1 << 21):
                written = []
                run_counts = predict(
                    model, read_chunks(str(tmp_path / "rows"), size=size), written.append, path="rows", values=True
                )
                seen.add(b"".join(written))
                tallies.add((run_counts.rows, run_counts.outside))
        assert len(seen) == len(tallies) == 1
        alone = np.vstack([decide(model, [row])[0] for row in rows])
        np.testing.assert_array_equal(alone, decide(model, rows)[0])


# ---- benchmark data


def labels_of(model, path, **options):
    text, _ = written_lines(model, read_chunks(str(path)), **options)
    return np.array(text.split(), float)


@pytest.mark.full
@pytest.mark.parametrize(
    "model, data, center, most",
    [
        ("ijcnn1_g0.05_c1", "ijcnn1.t", None, 0.001 * 91701),
        ("mnist1_g0.0001_c10", "mnist1.t", None, 0),
        ("u20_g0.1_c1", "u20.t", None, 0.0045 * 20000),
        ("a9a_g0.01_c1", "a9a.t", None, 3),
        ("a9a_g0.01_c1", "a9a.t", "origin", 0.0022 * 16281),
    ],
)
def test_few_labels_differ_on_benchmark_data(shared, model, data, center, most):
    exact = load_model(str(shared / "models" / f"{model}.model"))
    fast = parse_model(compile_maclaurin(exact, fingerprint="0" * 32, center=center).to_text(), "a.approx")
    path = shared / "data" / data
    assert np.sum(labels_of(fast, path) != labels_of(exact, path)) <= most


@pytest.mark.full
@pytest.mark.parametrize(
    "model, data, share", [("ijcnn1_g0.05_c1", "ijcnn1.t", 0.98), ("mnist1_g0.0001_c10", "mnist1.t", 0.999)]
)
def test_certificates_decide_benchmark_rows_and_the_exact_model_the_rest(shared, model, data, share):
    exact = load_model(str(shared / "models" / f"{model}.model"))
    fast = compile_maclaurin(exact, fingerprint="0" * 32, certify=True)
    path = shared / "data" / data
    written = []
    run_counts = predict(fast, read_chunks(str(path)), written.append, path="rows", exact=Fallback(lambda: exact))
    np.testing.assert_array_equal(np.array(b"".join(written).split(), float), labels_of(exact, path))
    assert run_counts.evaluated <= (1 - share) * run_counts.rows
