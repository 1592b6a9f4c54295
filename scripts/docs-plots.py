#!/usr/bin/env python3
"""Draws the ratios of each table of the benchmarks as bars, and shows them above their table.

    docs-plots.py CATALOG/benchmarks.md

The SVG files are put beside the page. All figures are the table's.
"""

import html
import math
import pathlib
import re
import sys

WIDTH, LEFT, RIGHT, TOP, ROW = 520, 14, 54, 44, 36
FONT = 'font-family="sans-serif" stroke="white" stroke-width="3" paint-order="stroke"'


def text(x, y, content, size=12, anchor="start", color="#333"):
    place = f'x="{x:.1f}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{color}"'
    return f"<text {place} {FONT}>{html.escape(content)}</text>"


def axis(rows):
    """The ends of a logarithmic axis, powers of two that hold all ratios and 1."""
    ratios = [ratio for *_, ratio in rows]
    return math.floor(math.log2(min(*ratios, 0.9))), math.ceil(math.log2(max(*ratios, 1.1)))


def label(power):
    return f"{2**power}×" if power >= 0 else f"1/{2**-power}"


def plot(title, rows):
    low, high = axis(rows)
    height = TOP + ROW * len(rows) + 26

    def x(ratio):
        return LEFT + (math.log2(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}">',
        '<rect width="100%" height="100%" fill="white"/>',
        text(LEFT, 18, title, size=15),
        text(LEFT, 35, "Time of the call, as a multiple of the other's; left of 1 is faster", size=11),
    ]
    for power in range(low, high + 1):
        place, color = x(2**power), "#888" if power == 0 else "#ddd"
        ends = f'x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{height - 20}"'
        lines.append(f'<line {ends} stroke="{color}"/>')
        lines.append(text(place, height - 6, label(power), size=11, anchor="middle"))
    for number, (call, against, ratio) in enumerate(rows):
        y = TOP + ROW * number
        start, end = sorted((x(1), x(ratio)))
        color = "#06c" if ratio <= 1 else "#c60"
        lines.append(text(LEFT, y + 14, f"{call}, against {against}"))
        size = f'x="{start:.1f}" y="{y + 18}" width="{max(end - start, 1):.1f}" height="12"'
        lines.append(f'<rect {size} fill="{color}"/>')
        lines.append(text(end + 5, y + 28, f"{ratio:.2f}"))
    return "\n".join([*lines, "</svg>", ""])


def rows_of(table):
    """The call, what it is compared with, and the ratio, of each row of a table that has ratios."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    if "ratio" not in cells[0]:
        return []
    column = cells[0].index("ratio")
    return [(row[0], row[1], float(row[column])) for row in cells[2:]]


def main(page):
    parts = re.split(r"(?m)^(#{2,6} .*)$", page.read_text())
    count = 0
    for number in range(1, len(parts), 2):
        title, body = parts[number].lstrip("# "), parts[number + 1]
        table = re.search(r"(?m)(?:^\|.*\n)+", body)
        rows = rows_of(table[0]) if table else []
        if rows:
            name = "benchmarks-" + re.sub(r"\W+", "-", title.lower()) + ".svg"
            (page.parent / name).write_text(plot(title, rows))
            image = f"![{title}: the time of each call, as a multiple of the other's]({name})\n\n"
            parts[number + 1] = body[: table.start()] + image + body[table.start() :]
            count += 1
    if not count:
        sys.exit(f"docs: {page} has no table of ratios")
    page.write_text("".join(parts))


main(pathlib.Path(sys.argv[1]))
