"""The records of all parts, put together as one run would have told it."""

from typing import Any

from fastsvm_cli.cluster.block_content import count_lines
from fastsvm_cli.cluster.blocks import Block
from fastsvm_cli.cluster.shards import shown
from fastsvm_cli.prediction.exact_sums import Totals
from fastsvm_cli.text.bad_rows import NAMED
from fastsvm_cli.text.scaling import Scaling


class Sum:
    """Of the parts that are there.

    tally: rows, counts and sums. bad_rows: how many. named: messages of the first bad rows, in the order of the input.
    instructions: the kinds of processor instructions that the parts were made with."""

    def __init__(
        self,
        blocks: "list[Block]",
        records: "dict[str, dict[str, Any]]",
        labelled: bool,
        scaling: "Scaling | None",
        lines: "Lines",
    ):
        self.tally = Totals(labelled)
        self.bad_rows = 0
        self.named: list[str] = []
        self.instructions: set[str] = set()
        for block in blocks:
            record = records.get(block.part)
            if record is None:
                continue
            self.tally.add_values(record["tally"])
            self.instructions.add(record["instructions"])
            self.bad_rows += record.get("bad_rows", 0)
            for line, why in record.get("named", ())[: NAMED - len(self.named)]:
                self.named.append(lines.message(block, line, why))
            if scaling is not None:
                _add_scaled(scaling, record["scaled"])


class Lines:
    """Line numbers of shards, of blocks that know their own alone. records: of the parts that are done, which tell how
    many lines each has; a block whose part is missing is read."""

    def __init__(self, blocks: "list[Block]", records: "dict[str, dict[str, Any]]"):
        self._blocks = {(block.shard_number, block.number): block for block in blocks}
        self._records = records
        self._counted: dict[str, int] = {}

    def message(self, block: Block, line: "int | None", why: str) -> str:
        """`shard:line: why`, of a line of the block; without a line the shard's name alone."""
        name = shown(block.shard.name)
        if line is None:
            return f"{name}: {why}"
        before = self._before(block)
        return f"{name}:{before + line}: {why}" if before is not None else f"{name}, from byte {block.start}: {why}"

    def _before(self, block: Block) -> "int | None":
        try:
            return sum(self._of(self._blocks[block.shard_number, number]) for number in range(block.number))
        except Exception:  # a shard that cannot be read here: what the worker told is told all the same
            return None

    def _of(self, block: Block) -> int:
        record = self._records.get(block.part)
        if record is not None:
            return record["lines"]
        if block.part not in self._counted:
            self._counted[block.part] = count_lines(block)
        return self._counted[block.part]


def _add_scaled(scaling: Scaling, counts: "list[int]") -> None:
    before, after, unknown, index = counts
    scaling.before += before
    scaling.after += after
    scaling.unknown += unknown
    if unknown:
        scaling.unknown_index = index if scaling.unknown_index < 0 else min(index, scaling.unknown_index)
