"""What a worker does: blocks in, parts out. It runs in a thread of a worker process, and answers with plain values."""

from time import monotonic
from typing import Any
from zlib import crc32

from fastsvm_cli import __version__, _native
from fastsvm_cli.cluster import lease
from fastsvm_cli.cluster.block_content import BlockContent, ShardChanged
from fastsvm_cli.cluster.blocks import Block
from fastsvm_cli.cluster.folder import FileState, Folder, NewFile, folder
from fastsvm_cli.cluster.job import Job, Prepared
from fastsvm_cli.cluster.shards import one_line
from fastsvm_cli.errors import DataFormatError, FastsvmError
from fastsvm_cli.prediction.exact_sums import PartTally
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.line_blocks import LineBlocks, Place

#: Jobs that this process has been told of, or why it cannot do them.
_jobs: "dict[str, Prepared | FastsvmError]" = {}
#: What an operating system says where trying again is in vain: the folder's disk is full, or is not for us.
_LASTING = ("EACCES", "EDQUOT", "EFBIG", "ENOENT", "ENOSPC", "ENOTDIR", "EPERM", "EROFS")

_SYNC_SECONDS = 1.0

#: Faults of a block. ROW: a bad row, or one that the model cannot evaluate. SHARD: it cannot be read. AGAIN: what may
#: pass, so that the block is worth another try. These concern the block alone; the others every block. OUTPUT: OUT_DIR
#: cannot be written. LEASE: OUT_DIR is another client's. JOB: the model cannot be used there.
ROW, SHARD, AGAIN, OUTPUT, LEASE, JOB = "row", "shard", "again", "output", "lease", "job"


class OutputFault(Exception):
    """OUT_DIR cannot be written. cause: why."""

    def __init__(self, cause: Exception):
        super().__init__(one_line(cause))
        self.cause = cause


class LeaseLost(Exception):
    """OUT_DIR is another client's, or another folder than the client's. Its text says which."""


def learn(job: Job) -> None:
    """From here on this process knows the job. Raises FastsvmError where another fastsvm asks; Dask tells nobody of it
    where the worker comes later, and its blocks then do."""
    if job.version != __version__:
        why = f"this machine has fastsvm {job.version}, and a worker {__version__}: install the same one"
        _jobs[job.key] = FastsvmError(why)
        raise FastsvmError(why)
    _jobs[job.key] = Prepared(job)


def forget(key: str) -> None:
    """It is done."""
    _jobs.pop(key, None)


def do_blocks(key: str, blocks: "list[Block]") -> "list[dict[str, Any]]":
    """The blocks' records, as Manifest keeps them, or their faults: {part, fault, why, line of the block or None}.
    Behind a fault that concerns every block no other is tried."""
    out = []
    for block in blocks:
        out.append(_do(key, block))
        if out[-1].get("fault") in (OUTPUT, LEASE, JOB):
            break
    return out


def _do(key: str, block: Block) -> "dict[str, Any]":
    prepared = _jobs.get(key)
    if prepared is None:
        return _fault(block, AGAIN, "the worker was not told of the job")
    if isinstance(prepared, FastsvmError):
        return _fault(block, JOB, str(prepared))
    try:
        return do_block(prepared, block)
    except DataFormatError as error:
        if error.path == block.shard.name:
            return _fault(block, ROW, error.why, error.line)
        return _fault(block, JOB, str(error))
    except ShardChanged:
        return _fault(block, SHARD, "it was changed while it was read; run the same command again")
    except OutputFault as error:
        import errno

        lasting = {getattr(errno, name) for name in _LASTING}
        passes = not isinstance(error.cause, OSError) or error.cause.errno not in lasting
        return (
            _fault(block, AGAIN, f"its part cannot be written: {error}")
            if passes
            else _fault(block, OUTPUT, str(error))
        )
    except LeaseLost as error:
        return _fault(block, LEASE, str(error))
    except FastsvmError as error:
        of_shard = str(error).startswith(f"{block.shard.name}: ")
        return _fault(block, SHARD if of_shard else JOB, str(error).removeprefix(f"{block.shard.name}: "))
    except MemoryError:
        return _fault(block, AGAIN, "out of memory")
    except Exception as error:  # whatever the store's library raises; Dask's own exceptions end the task elsewhere
        return _fault(block, AGAIN, one_line(error))


def _fault(block: Block, kind: str, why: str, line: "int | None" = None) -> "dict[str, Any]":
    return {"part": block.part, "fault": kind, "why": why, "line": line}


def do_block(prepared: Prepared, block: Block) -> "dict[str, Any]":
    """Predict a block's rows into its part. Raises DataFormatError with the line number of the block, FileError and
    ShardChanged for its shard, ModelFormatError, OutputFault, LeaseLost, and what the store raises."""
    job, where = prepared.job, folder(prepared.job.out)
    model, scaling = prepared.model, prepared.scaling()
    path = block.shard.name
    bad_rows = None if job.on_bad_row == "stop" else BadRows(path, job.filler)
    tally = PartTally(job.labelled, job.regression)
    place = Place(fields=job.fields)
    before = _native.set_threads_here(job.threads)
    part = _Part(where, block.part)
    try:
        with LineBlocks(
            path,
            labelled=job.labelled,
            dense=job.dense,
            delimiter=job.delimiter,
            max_line=job.max_line,
            place=place,
            bad_rows=bad_rows,
            scaling=scaling,
            content=BlockContent(block),
        ) as blocks:
            predict(
                model,
                blocks,
                part.write,
                path=path,
                probability=job.probability,
                values=job.values,
                evaluations=job.evaluations,
                labelled=job.labelled,
                exact=prepared.exact,
                tolerance=job.tolerance,
                bad_rows=bad_rows,
                tally=tally,
                head=block.first,
            )
        state = part.publish(job.lease)
    except BaseException:
        part.abandon()
        raise
    finally:
        _native.set_threads_here(before)
    record = {
        "part": block.part,
        "shard": path,
        "shard_size": block.shard.size,
        "shard_mark": block.shard.mark,
        "start": block.start,
        "end": block.end,
        "job": job.key.partition("-")[0],
        "on_bad_row": job.on_bad_row,
        "max_line": job.max_line,
        "lines": place.lines,
        "size": state.size,
        "mark": state.mark,
        "crc32": f"{part.checksum:08x}",
        "synced": part.synced,
        "instructions": _native.instruction_set(),
        "tally": tally.values(),
    }
    if bad_rows is not None:
        record["bad_rows"] = bad_rows.count
        record["named"] = bad_rows.named
    if scaling is not None:
        record["scaled"] = [scaling.before, scaling.after, scaling.unknown, scaling.unknown_index]
    return record


class _Part:
    """A part that is being written."""

    def __init__(self, where: Folder, name: str):
        import os
        import socket

        self._where, self.checksum = where, 0
        self._start = monotonic()
        words = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        self._file: NewFile
        try:
            self._file = where.new(name, words)
        except FileNotFoundError:  # the client has made the folder
            raise LeaseLost(lease.NOT_SHARED) from None
        except Exception as error:
            raise OutputFault(error) from None

    def write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except Exception as error:
            raise OutputFault(error) from None
        self.checksum = crc32(data, self.checksum)

    def publish(self, identity: str) -> FileState:
        """Its state under its name, where OUT_DIR is still the client's. synced: it took so long that it is on the disk
        then; of others a later run will look at the checksum, which is cheaper than ten thousand of these."""
        self.synced = self._where.lasting or monotonic() - self._start > _SYNC_SECONDS
        try:
            why = lease.no_longer(self._where, identity)
            if why:
                raise LeaseLost(why)
            return self._file.finish(self.synced)
        except LeaseLost:
            raise
        except Exception as error:
            raise OutputFault(error) from None

    def abandon(self) -> None:
        self._file.abandon()
