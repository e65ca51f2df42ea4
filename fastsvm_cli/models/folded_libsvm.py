"""LIBSVM models of raw rows, marked by a last line that LIBSVM ignores."""

from fastsvm_cli import _native
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import Folded
from fastsvm_cli.text.checksum import FOLDED, VERSION, seal_own_line
from fastsvm_cli.text.header import Header


class FoldedModel(ExactModel):
    """fingerprint: of the source model's file, or the rows. digest: of the file of --scale."""

    folded: Folded

    def __init__(self, header: Header, vectors: _native.Chunk, path: str, fingerprint: str, digest: str):
        super().__init__(header, vectors, path)
        self.fingerprint, self.folded = fingerprint, Folded(digest)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "FoldedModel":
        header, vectors, _, line, _ = _native.read_libsvm(text, path)
        assert line is not None
        return cls(Header(**header), vectors, path, *line)

    def to_text(self) -> bytes:
        return seal_own_line(super().to_text() + f"{FOLDED} {VERSION} {self.fingerprint} {self.folded.digest}".encode())

    def plain(self) -> ExactModel:
        return ExactModel(self.header, self.vectors, self.path)
