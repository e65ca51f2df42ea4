"""Markdown tables."""


def markdown(head, rows):
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(head))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths))} |" for line in lines)
