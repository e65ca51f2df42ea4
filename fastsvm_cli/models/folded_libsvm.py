"""LIBSVM models of raw rows: what became of a model of scaled ones, with a line behind the last support vector that
says so. LIBSVM's readers stop before that line."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel, read_libsvm
from fastsvm_cli.models.folded import Folded
from fastsvm_cli.text.checksum import FOLDED, VERSION, seal_own_line
from fastsvm_cli.text.header import Header, line_words


class FoldedModel(ExactModel):
    """A LIBSVM model of raw rows, which was compiled from one of scaled rows.

    fingerprint: of that model's file. digest: of the file of --scale that is folded in."""

    folded: Folded

    def __init__(self, header: Header, vectors: _native.Chunk, path: str, fingerprint: str, digest: str):
        super().__init__(header, vectors, path)
        self.fingerprint, self.folded = fingerprint, Folded(digest)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "FoldedModel":
        header, vectors, body = read_libsvm(text, path)
        if not (body.begins_with(FOLDED) and text.find(b"\n", body.at) + 1 == len(text)):
            body.fail(f"text found after the {header.total_sv} support vectors that total_sv announces", body.at)
        number = text.count(b"\n", 0, body.at) + 1
        words = line_words(text[body.at :], path, number)
        if words[1:2] != [str(VERSION)]:
            found = f"version '{' '.join(words[1:2])[:20]}' of the line '{FOLDED}' found"
            raise ModelFormatError(path, f"{found}, this fastsvm reads {VERSION}", number)
        if len(words) != 5:
            raise ModelFormatError(path, f"{len(words)} words in the line '{FOLDED}' found, expected 5", number)
        if header.kernel_type == "precomputed":  # whose rows hold kernel values; nobody has looked for serials, either
            found = f"the line '{FOLDED}' found behind a model with a precomputed kernel"
            raise ModelFormatError(path, f"{found}, which no scaling is folded into", number)
        return cls(header, vectors, path, words[2], words[3])

    def to_text(self) -> bytes:
        return seal_own_line(super().to_text() + f"{FOLDED} {VERSION} {self.fingerprint} {self.folded.digest}".encode())

    def plain(self) -> ExactModel:
        return ExactModel(self.header, self.vectors, self.path)
