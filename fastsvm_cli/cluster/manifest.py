"""What OUT_DIR says of its parts: `manifest.json`, and journals beside it while a run goes on. FORMAT.md has both."""

import json
import re
from collections.abc import Iterable
from time import monotonic
from typing import Any

from fastsvm_cli.cluster.blocks import PART, Block
from fastsvm_cli.cluster.folder import FileState, Folder
from fastsvm_cli.cluster.shards import Shard, shown
from fastsvm_cli.errors import FileError

NAME = "manifest.json"
VERSION = 1
_JOURNAL = re.compile(r"\.manifest-([0-9]{6,})-[0-9a-f]+\.jsonl")
#: What every record has.
_KEYS = {
    *("part", "size", "mark", "crc32", "synced", "shard", "shard_size", "shard_mark", "start", "end", "lines"),
    *("job", "on_bad_row", "max_line", "instructions", "tally"),
}
#: A journal is written when so many seconds have passed since the last one, and such a share of the run's time, if a
#: part is done: a run of ten hours has some hundreds of them, not eighteen thousand to be read and removed again.
SECONDS = 2.0
_SHARE = 0.01
#: So many shards that changed are named.
_NAMED = 10


class Manifest:
    """The records of the parts in a folder, of this run and of those before it.

    folder: OUT_DIR. identity: of this client. complete: the folder holds the parts of one run, all of them.
    records: {part: what runs have said of it}, the latest last. jobs: {job's identity: what its parts were made with}.
    """

    def __init__(self, folder: Folder, identity: str):
        self.folder, self._identity = folder, identity
        self.complete = False
        self.records: dict[str, list[dict[str, Any]]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self._journals: list[str] = []
        self._serial = 0
        self._unwritten: list[dict[str, Any]] = []
        self._begun = self._written = 0.0
        self._head: dict[str, Any] = {}

    def load(self) -> None:
        """What former runs have left. Raises FileError where that is none of ours, and what the store raises."""
        files = self.folder.list()
        text = self.folder.read(NAME) if NAME in files else None
        if text is None:
            self._refuse_foreign(files)
            return
        try:
            found = json.loads(text)
            if not isinstance(found, dict) or "fastsvm_parts" not in found:
                raise ValueError
            version = found["fastsvm_parts"]
            if version == VERSION:
                self.complete = found["complete"] is True
                self.jobs = dict(found["jobs"])
                self._add(found["parts"])
        except (ValueError, KeyError, TypeError, AttributeError):
            why = f"its {NAME} is not what fastsvm wrote there; remove it, and the parts, or name another directory"
            raise FileError(shown(self.folder.url), why) from None
        if version != VERSION:
            why = f"its {NAME} has version {version}, this fastsvm reads {VERSION}; name another directory"
            raise FileError(shown(self.folder.url), why)
        for name in sorted(each for each in files if _JOURNAL.fullmatch(each)):
            self._journals.append(name)
            self._serial = max(self._serial, int(_JOURNAL.fullmatch(name)[1]))  # type: ignore[index]  # it does match
            for line in (self.folder.read(name) or b"").splitlines():
                try:
                    self._add([json.loads(line)])
                except (ValueError, KeyError, TypeError, AttributeError):
                    continue  # its part will be done again

    def _refuse_foreign(self, files: "Iterable[str]") -> None:
        # Those of other programs too, Spark's say: `cat part-*` would have them.
        parts = sorted(name for name in files if name.startswith("part-"))
        if parts:
            why = f"it holds {parts[0]}, of which no {NAME} tells; remove such files, or name another directory"
            raise FileError(shown(self.folder.url), why)

    def _add(self, records: "Iterable[dict[str, Any]]") -> None:
        for record in records:
            if not (_KEYS <= set(record) and isinstance(record["tally"], dict)):
                raise ValueError
            self.records.setdefault(record["part"], []).append(record)

    # ---- a run

    def begin(self, head: "dict[str, Any]", made_with: "dict[str, Any]", kept: "dict[str, dict[str, Any]]") -> None:
        """From here on the folder does not look whole. head: what `manifest.json` says of the run; made_with: of its
        job. kept: the records that still hold; those of other parts are known until these are replaced."""
        self._head, self._begun = head, monotonic()
        self.jobs[head["job"]] = made_with
        self.records.update((part, [record]) for part, record in kept.items())
        self.complete = False
        self._write(self.records)
        self._remove_journals()

    def note(self, record: "dict[str, Any]") -> None:
        """A part is done."""
        self.records[record["part"]] = [record]
        self._unwritten.append(record)
        now = monotonic()
        if now - self._written >= max(SECONDS, _SHARE * (now - self._begun)):
            try:
                self.flush()
            except Exception:  # a store's bad moment; the last time it is a fault
                self._written = monotonic()

    def flush(self) -> None:
        """Write what has been noted, as a journal: as much as is new, and no more."""
        if not self._unwritten:
            return
        self._serial += 1
        name = f".manifest-{self._serial:06d}-{self._identity}.jsonl"
        lines = "".join(json.dumps(record) + "\n" for record in self._unwritten)
        self.folder.put(name, lines.encode(), self._identity)
        self._journals.append(name)
        self._unwritten = []
        self._written = monotonic()

    def finish(self, parts: "list[str]", summary: "dict[str, Any]") -> None:
        """Write `manifest.json` as a whole. parts: the names of the run's, in order; all of them are there, and the
        folder holds no others."""
        self.complete = True
        self.records = {part: self.records[part][-1:] for part in parts}
        self.jobs = {self._head["job"]: self.jobs[self._head["job"]]}
        self._head = {**self._head, "summary": summary}
        self._write(self.records)
        self._unwritten = []
        self._remove_journals()

    def _write(self, records: "dict[str, list[dict[str, Any]]]") -> None:
        every = [record for part in sorted(records) for record in records[part]]
        head = {"fastsvm_parts": VERSION, "complete": self.complete, **self._head, "jobs": self.jobs}
        # A line per part: to be read, compared and searched by line.
        body = json.dumps(head, indent=1)[:-2] + ',\n "parts": [\n  '
        body += ",\n  ".join(map(json.dumps, every)) + "\n ]\n}\n"
        self.folder.put(NAME, body.encode(), self._identity)

    def _remove_journals(self) -> None:
        for name in self._journals:
            self.folder.remove(name)
        self._journals = []


class Plan:
    """Which of a run's parts are there already.

    kept: {part: its record}. to_do: the other blocks, in order. reasons: lines that tell why parts are done again.
    stale: names of parts that are none of this run's."""

    def __init__(
        self,
        manifest: Manifest,
        blocks: "list[Block]",
        made_with: "dict[str, Any]",
        on_bad_row: str,
        max_line: int,
    ):
        files = manifest.folder.list()
        self.kept: dict[str, dict[str, Any]] = {}
        self.to_do: list[Block] = []
        self.reasons: list[str] = []
        self.stale = sorted({name for name in files if PART.fullmatch(name)} - {block.part for block in blocks})
        cuts = {(block.shard.name, block.start, block.end) for block in blocks}
        # Shards that were cut in another way.
        recut = {
            record["shard"]
            for records in manifest.records.values()
            for record in records
            if (record["shard"], record["start"], record["end"]) not in cuts
        }
        why: dict[str, list[Block]] = {}
        shards_to_do: dict[str, Shard] = {}
        for block in blocks:
            records = manifest.records.get(block.part, [])
            reasons = [_difference(each, block, made_with, on_bad_row, max_line, manifest.jobs) for each in records]
            fitting = [each for each, reason in zip(records, reasons) if not reason]
            whole = next((each for each in reversed(fitting) if is_whole(manifest.folder, each, files)), None)
            if whole is not None:
                self.kept[block.part] = whole
                continue
            self.to_do.append(block)
            if fitting:
                why.setdefault("missing", []).append(block)
            elif records:
                why.setdefault(reasons[-1], []).append(block)
                shards_to_do[block.shard.name] = block.shard
            elif block.shard.name in recut:
                why.setdefault("--block", []).append(block)
        self._tell(why, len(blocks))

    def _tell(self, why: "dict[str, list[Block]]", total: int) -> None:
        def again(blocks: "list[Block]") -> str:
            some = len(blocks)
            if some == total:
                return "the only part is" if total == 1 else f"all {total} parts are"
            return f"{some} of {total} parts {_is(some)}"

        for reason in sorted(set(why) - {"shard", "missing"}):
            self.reasons.append(f"{reason} changed: {again(why[reason])} done again.")
        changed: dict[str, list[Block]] = {}
        for block in why.get("shard", []):
            changed.setdefault(block.shard.name, []).append(block)
        for name, blocks in list(changed.items())[:_NAMED]:
            self.reasons.append(f"shard {shown(name)} changed: {again(blocks)} done again.")
        if len(changed) > _NAMED:
            rest = [block for blocks in list(changed.values())[_NAMED:] for block in blocks]
            self.reasons.append(f"{len(changed) - _NAMED} more shards changed: {again(rest)} done again.")
        if "missing" in why:
            some = len(why["missing"])
            self.reasons.append(f"{some} of {total} parts {_is(some)} missing or not whole, and done again.")


def is_whole(folder: Folder, record: "dict[str, Any]", files: "dict[str, FileState]", fresh: bool = False) -> bool:
    """Whether a part is the one that its record speaks of: by what the listing says, or, where the time is another (a
    copied folder's) or it may not have reached the disk before the power failed, by its checksum. fresh: it was written
    in this run."""
    found = files.get(record["part"])
    if found is None or found.size != record["size"]:
        return False
    if found.mark == record["mark"] and found.mark and (record["synced"] or fresh):
        return True
    checksum = folder.checksum(record["part"])
    if checksum is None or f"{checksum:08x}" != record["crc32"]:
        return False
    record["mark"] = found.mark
    return True


def _difference(
    record: "dict[str, Any]",
    block: Block,
    made_with: "dict[str, Any]",
    on_bad_row: str,
    max_line: int,
    jobs: "dict[str, dict[str, Any]]",
) -> str:
    """What is not as it was when a part was made, in a word or a few; empty if nothing. What becomes of bad rows, and
    the longest line, do not matter to a part without bad rows."""
    shard = block.shard
    if record["shard"] != shard.name:
        return "the shards' order"
    if (record["shard_size"], record["shard_mark"]) != (shard.size, shard.mark):
        return "shard"
    if (record["start"], record["end"]) != (block.start, block.end):
        return "--block"
    then = jobs.get(record["job"], {})
    keys = [key for key in made_with if key not in then or then[key] != made_with[key]]
    if keys:
        return " and ".join(keys)
    bad = record.get("bad_rows", 0)
    if bad and record["on_bad_row"] != on_bad_row:
        return "--on-bad-row"
    longest = record["max_line"]
    if longest != max_line and (bad or longest > max_line):
        return "--max-line"
    return ""


def _is(some: int) -> str:
    return "is" if some == 1 else "are"
