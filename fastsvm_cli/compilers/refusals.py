"""What compilers refuse. Each says it once, as `refusal(model)` in its front door: one sentence, or None where it takes
the model. It speaks of what a model is (its kernel, its type), not of numbers that overflow on the way, which are told
where they do."""

from fastsvm_cli.errors import ModelFormatError


def demand(path: str, refusal: "str | None") -> None:
    """Raises ModelFormatError for the model in the file `path`, where there is a refusal."""
    if refusal is not None:
        raise ModelFormatError(path, refusal)
