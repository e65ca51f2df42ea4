"""LIBSVM itself, in this process: the reference of the scoring clock."""


from fastsvm_cli import _native


class LibsvmScoring:
    """A model of libsvm-official, and rows as its nodes. path: a LIBSVM model file. chunks: in memory; `most` rows of them at most, evenly spread."""

    def __init__(self, path: str, chunks: "list[_native.Chunk]", most: int):
        from libsvm import svm
        from libsvm.svmutil import svm_load_model

        with open(path, "rb") as file:
            if not file.read(8).isascii():  # LIBSVM would say so on standard output
                raise ValueError("libsvm reads no compressed models")
        self._library = svm.libsvm
        self._model = svm_load_model(path)
        if self._model is None:
            raise ValueError("libsvm-official cannot read this model")
        total = sum(chunk.rows for chunk in chunks)
        wanted = {at * total // min(total, most) for at in range(min(total, most))}
        self._rows, first = [], 0
        for chunk in chunks:
            starts, indices, values = chunk.indptr, chunk.indices, chunk.values
            for row in range(chunk.rows):
                if first + row in wanted:
                    nodes = (svm.svm_node * (starts[row + 1] - starts[row] + 1))()
                    for node, entry in zip(nodes, range(starts[row], starts[row + 1])):
                        node.index, node.value = indices[entry], values[entry]
                    nodes[len(nodes) - 1].index = -1
                    self._rows.append(nodes)
            first += chunk.rows

    def __call__(self) -> int:
        """Predict the rows; returns how many."""
        predict, model = self._library.svm_predict, self._model
        for nodes in self._rows:
            predict(model, nodes)
        return len(self._rows)

    @property
    def rows(self) -> int:
        return len(self._rows)


def version() -> "str | None":
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("libsvm-official")
    except PackageNotFoundError:
        return None
