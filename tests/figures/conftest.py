import pytest
from threadpoolctl import threadpool_limits

from support.benching import first_rows, train
from support.compiling import compile_all


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads of libsvm and of BLAS busy-wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory):
    """Rows and models of two classes, six classes, and regression; certified and reduced ones."""
    folder = tmp_path_factory.mktemp("figures")
    first_rows(folder, "rings.rows", "rings.test", 300)
    first_rows(folder, "colors.rows", "colors.test", 200)
    first_rows(folder, "waves.rows", "waves.train", 150)
    train(folder, "rings.model", "rings.train", "-g 0.2 -c 10", 600)
    train(folder, "colors.model", "colors.train", "-g 0.05 -c 5", 300)
    train(folder, "waves.model", "waves.train", "-s 3 -g 0.05 -c 5", 200)
    train(folder, "linear.model", "rings.train", "-t 0", 200)
    compile_all(
        folder,
        "approx --certify --degree 2 rings.model rings.2",
        "approx --certify --degree 4 rings.model rings.4",
        "approx --certify --degree 3 colors.model colors.3",
        "reduce --vectors 30 rings.model rings.red",
    )
    return folder
