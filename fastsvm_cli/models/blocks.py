"""Blocks models: bounds of distances for blocks of neighbouring support vectors (native/models/blocks.h). The file
format is described in FORMAT.md."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.ordered import OrderedFile, OrderedModel
from fastsvm_cli.models.triangle import check_falls

#: Support vectors per block.
BLOCK = 8


class BlocksModel(OrderedModel):
    """A LIBSVM model whose support vectors are bounded block by block, each a class's vectors inside one box.

    order: (total_sv) rows of exact.vectors, every one once, class by class; within a class each 8 of them are a block,
    the last one fewer."""

    kind = "blocks"

    def __init__(self, exact: ExactModel, fingerprint: str, *, order: "list[int]"):
        super().__init__(exact, fingerprint)
        self.order = order
        self._blocks: _native.Blocks | None = None

    @property
    def ordered_by(self) -> str:
        sizes = self.header.nr_sv or [self.header.total_sv]
        return f"{sum(-(-size // BLOCK) for size in sizes)} blocks"

    def settle(self, chunk: _native.Chunk, task: _native.Task, tolerance: float, out: _native.Decisions) -> "list[int]":
        if self._blocks is None:
            self._blocks = _native.Blocks(self.exact.svm_model, self.order)
        return self._blocks.decision_values(chunk, task, tolerance, out)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "BlocksModel":
        file = OrderedFile(text, path)
        check_falls(file.exact.kernel, path)
        file.body.record("order")
        header = file.exact.header
        order = file.body.whole_numbers(header.total_sv, header.total_sv)
        file.body.end()
        first = 0
        for size in header.nr_sv or [header.total_sv]:
            if sorted(order[first : first + size]) != list(range(first, first + size)):
                raise ModelFormatError(path, "the order is not one of the support vectors, class by class")
            first += size
        return cls(file.exact, file.fingerprint, order=order)

    def to_text(self) -> bytes:
        lines = (" ".join(map(str, self.order[at : at + BLOCK])) for at in range(0, len(self.order), BLOCK))
        return self.file_of("", b"order\n", "".join(line + "\n" for line in lines).encode())
