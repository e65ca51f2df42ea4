"""Shards cut into blocks, and the names of the parts that answer them."""

import re

from fastsvm_cli.cluster.shards import Shard
from fastsvm_cli.errors import FastsvmError

#: More parts than this are more files than anyone wants, and more than a client's memory should hold.
MOST = 1_000_000
_WIDTH = 5  # of the numbers in a part's name, at least
#: The name of a part, of any run.
PART = re.compile(rf"part-[0-9]{{{_WIDTH},}}-[0-9]{{{_WIDTH},}}")


class Block:
    """Rows of a shard: the lines whose first byte lies in [start, end). Neighbouring blocks have every line once, and
    nobody need look at the text to cut it.

    shard, number: of the shard in the input, and of the block in the shard, from 0. part: the name of its part. plain:
    the text is known not to be compressed; otherwise the block is the whole shard."""

    def __init__(self, shard: Shard, shard_number: int, number: int, start: int, end: int, part: str, plain: bool):
        self.shard, self.shard_number, self.number = shard, shard_number, number
        self.start, self.end, self.part, self.plain = start, end, part, plain

    @property
    def first(self) -> bool:
        """It is the first of the input."""
        return self.shard_number == self.number == 0

    @property
    def size(self) -> int:
        """In bytes of the shard."""
        return self.end - self.start


def cut(shards: "list[Shard]", size: int) -> "list[Block]":
    """Blocks of `size` bytes of every shard known to be plain, others whole, in order. An empty shard has one block, so
    that every shard has a part. Raises FastsvmError where they are too many."""
    counts = [max(1, -(-shard.size // size)) if shard.plain else 1 for shard in shards]
    total = sum(counts)
    if total > MOST:
        raise FastsvmError(f"{total} blocks of {size} bytes, expected at most {MOST}: --block takes more megabytes")
    shard_width = max(_WIDTH, len(str(len(shards) - 1)))
    block_width = max(_WIDTH, len(str(max(counts, default=1) - 1)))
    out = []
    for at, (shard, count) in enumerate(zip(shards, counts)):
        for number in range(count):
            start = number * size if count > 1 else 0
            end = min(start + size, shard.size) if count > 1 else shard.size
            name = f"part-{at:0{shard_width}}-{number:0{block_width}}"
            out.append(Block(shard, at, number, start, end, name, shard.plain))
    return out
