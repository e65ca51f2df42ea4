"""Time LIBSVM's own prediction in this process."""

from fastsvm_cli import _native
from fastsvm_cli.system.platform import name_of
from fastsvm_cli.text.read_rows import select_rows


class LibsvmScoring:
    """LIBSVM's own prediction in this process: the reference of the scoring clock.

    A call predicts the rows that `take` selects. path: of the model. Raises ValueError for an unreadable model.
    """

    def __init__(self, path: str, chunks: "list[_native.Chunk]"):
        from libsvm import svm
        from libsvm.svmutil import svm_load_model

        with open(path, "rb") as file:
            if not file.read(8).isascii():  # LIBSVM would print a message
                raise ValueError("libsvm reads no compressed models")
            # libsvm-official takes only UTF-8 names.
            self._model = svm_load_model(name_of(file))
        self._library, self._node, self._chunks = svm.libsvm, svm.svm_node, chunks
        if self._model is None:
            raise ValueError("libsvm-official cannot read this model")
        self._rows: list = []

    def take(self, most: int) -> None:
        """Select at most this many rows, evenly spread, to be predicted."""
        total = sum(chunk.rows for chunk in self._chunks)
        count = min(total, most)
        self._rows = []
        for chunk in select_rows(self._chunks, [at * total // count for at in range(count)]):
            starts, indices, values = chunk.indptr, chunk.indices, chunk.values
            for row in range(chunk.rows):
                nodes = (self._node * (starts[row + 1] - starts[row] + 1))()
                for node, entry in zip(nodes, range(starts[row], starts[row + 1])):
                    node.index, node.value = indices[entry], values[entry]
                nodes[len(nodes) - 1].index = -1
                self._rows.append(nodes)

    def __call__(self) -> int:
        """Predict the selected rows, and return their number."""
        predict, model = self._library.svm_predict, self._model
        for nodes in self._rows:
            predict(model, nodes)
        return len(self._rows)

    @property
    def rows(self) -> int:
        """Number of selected rows."""
        return len(self._rows)


def version() -> "str | None":
    """Return the version of libsvm-official, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("libsvm-official")
    except PackageNotFoundError:
        return None
