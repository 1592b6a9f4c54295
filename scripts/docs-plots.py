#!/usr/bin/env python3
"""Draws the tables of the benchmarks, as SVG; all figures are the tables'.

    docs-plots.py pictures docs/benchmarks.md    the pictures that the page names, in docs/benchmarks
    docs-plots.py tables CATALOG/benchmarks.md   bars of each table's ratios, shown above the table
"""

import html
import math
import pathlib
import re
import sys

WIDTH, LEFT, RIGHT, TOP, ROW = 520, 14, 54, 44, 36
FONT = 'font-family="sans-serif" stroke="white" stroke-width="3" paint-order="stroke"'


def text(x, y, content, size=12, anchor="start", color="#333", weight="normal"):
    place = f'x="{x:.1f}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{color}"'
    return f'<text {place} font-weight="{weight}" {FONT}>{html.escape(content)}</text>'


def line(x1, y1, x2, y2, color, dash="none"):
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-dasharray="{dash}"/>'


def svg(width, height, lines):
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *lines, "</svg>", ""])


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
        text(LEFT, 18, title, size=15),
        text(LEFT, 35, "Time of the call, as a multiple of the other's; left of 1 is faster", size=11),
    ]
    for power in range(low, high + 1):
        place, color = x(2**power), "#888" if power == 0 else "#ddd"
        lines.append(line(place, TOP, place, height - 20, color))
        lines.append(text(place, height - 6, label(power), size=11, anchor="middle"))
    for number, (call, against, ratio) in enumerate(rows):
        y = TOP + ROW * number
        start, end = sorted((x(1), x(ratio)))
        color = "#06c" if ratio <= 1 else "#c60"
        lines.append(text(LEFT, y + 14, f"{call}, against {against}"))
        size = f'x="{start:.1f}" y="{y + 18}" width="{max(end - start, 1):.1f}" height="12"'
        lines.append(f'<rect {size} fill="{color}"/>')
        lines.append(text(end + 5, y + 28, f"{ratio:.2f}"))
    return svg(WIDTH, height, lines)


def time(nanoseconds):
    """With the unit in which it is easiest to read."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{1 if value < 10 else 0}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def peers(page):
    """Bars that show this package beside others, for the calls by which a user would choose."""
    rows = {}
    for table in re.findall(r"(?m)(?:^\|.*\n)+", page):
        for call, against, that, ours, _ in rows_of(table, whole=True):
            rows[call, against] = (that, ours)
    gib = re.findall(r"(?m)^- 1 GiB: ([^,]*), (write|read): .*\((\d+) MB/s\)", page)

    def calls(call, name, others):
        found = [(other, *rows[call, row]) for row, other in others if (call, row) in rows]
        ours = sorted(time for *_, time in found)
        return [(name, ours[len(ours) // 2]), *((other, that) for other, that, _ in found)] if found else []

    def sealing(call):
        pairs = (f"{call} 32 B as Data", "CryptoCore"), (f"swift-crypto: {call} 32 B", "swift-crypto")
        return [(name, rows[row, f"bare {call}"][1]) for row, name in pairs if (row, f"bare {call}") in rows]

    def file(way):
        names = {"sealed folder": "SealedFolder", "age": "age"}
        mine = ((who, rate) for who, how, rate in gib if how == way and who in names)
        return [(names[who], 2**30 / float(rate) * 1e3) for who, rate in mine]

    groups = {
        "read a text of 32 bytes from a file store": calls(
            "@Vault String: read", "@Vault",
            [("SQLCipher point read", "SQLCipher"), ("bare SQLite point read", "SQLite, not encrypted")]),
        "store a text of 32 bytes durably in a file store": calls(
            "@Vault String: durable write", "@Vault",
            [("SQLCipher, two rows", "SQLCipher"), ("bare SQLite, a plain table", "SQLite, not encrypted")]),
        "seal 32 bytes with AES-256-GCM": sealing("seal"),
        "open 32 bytes with AES-256-GCM": sealing("open"),
        "read a secret from the desktop's keyring": calls(
            "@Keychain String: read, 10 items", "@Keychain",
            [("libsecret in C, a new session each", "libsecret, a session each"),
             ("Python's keyring", "Python's keyring"),
             ("secret-tool lookup, a process each", "secret-tool")]),
        "store a file of 1 GiB, encrypted and durable": file("write"),
        "read a file of 1 GiB that is encrypted": file("read"),
    }
    title = "One call, with this package and with others: a shorter bar is faster"
    lines, y = [text(14, 24, title, size=15)], 34
    for title, bars in groups.items():
        if len(bars) < 2:
            continue
        y += 34
        lines.append(text(14, y - 8, title, size=13, weight="bold"))
        longest = max(duration for _, duration in bars)
        for number, (name, duration) in enumerate(bars):
            length = max(duration / longest * 440, 1.5)
            lines.append(text(182, y + 14, name, anchor="end", weight="normal" if number else "bold"))
            fill = "#999" if number else "#06c"
            lines.append(f'<rect x="190" y="{y + 3}" width="{length:.1f}" height="14" fill="{fill}"/>')
            lines.append(text(196 + length, y + 14, time(duration)))
            y += 20
    return svg(720, y + 14, lines)


def curve(title, unit, points, limit, name):
    """A curve over the number of entries, and the target below which it shall stay."""
    highest = max(limit, *(value for _, value in points)) * 1.1
    step = 10 ** math.floor(math.log10(highest))
    top = math.ceil(highest / step * 2) / 2 * step
    first, last = math.log10(points[0][0]), math.log10(points[-1][0])

    def x(entries):
        return 70 + (math.log10(entries) - first) / (last - first) * 550

    def y(value):
        return 275 - value / top * 235

    lines = [text(70, 22, title, size=15)]
    for value in (top * part / 4 for part in range(5)):
        lines.append(line(70, y(value), 620, y(value), "#ddd"))
        lines.append(text(64, y(value) + 4, f"{value:.{0 if top >= 20 else 2}f} {unit}", anchor="end"))
    lines.append(text(320, 312, "entries", anchor="middle"))
    lines.append(line(70, y(limit), 620, y(limit), "#b00", dash="6 4"))
    lines.append(text(620, y(limit) - 5, name, anchor="end", color="#b00"))
    path = " ".join(f"{x(entries):.1f},{y(value):.1f}" for entries, value in points)
    lines.append(f'<polyline fill="none" stroke="#06c" stroke-width="2" points="{path}"/>')
    for entries, value in points:
        lines.append(text(x(entries), 293, f"{entries:,}", anchor="middle"))
        place = f'cx="{x(entries):.1f}" cy="{y(value):.1f}"'
        lines.append(f'<circle {place} r="3" fill="#06c"><title>{entries}: {value} {unit}</title></circle>')
    return svg(640, 320, lines)


def pictures(page):
    content = page.read_text()
    folder = page.parent / "benchmarks"
    folder.mkdir(exist_ok=True)
    (folder / "peers.svg").write_text(peers(content))
    table = re.search(r"(?m)^\| entries \|.*\n\|[-:|]+\n((?:\|.*\n)+)", content)
    if not table:
        sys.exit(f"docs: {page} has no table of entries")
    rows = [[float(cell) for cell in row.strip("|").split("|")] for row in table[1].splitlines()]

    def points(column):
        return [(int(row[0]), row[column]) for row in rows]

    base = rows[0][6] * 1.5
    (folder / "vault-read.svg").write_text(
        curve("Warm read of any entry", "ns", points(6), base, "1.5 times that at 1,000"))
    (folder / "vault-opening.svg").write_text(
        curve("Opening, up to the first value", "ms", points(2), 50, "50 ms"))
    (folder / "vault-memory.svg").write_text(
        curve("Memory when all entries were read, to the file's size", "x", points(4), 1.5, "1.5"))


def rows_of(table, whole=False):
    """The call, what it is compared with, and the ratio, of each row of a table that has ratios.

    `whole` has both times before the ratio.
    """
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    if "ratio" not in cells[0]:
        return []
    column = cells[0].index("ratio")
    skipped = 0 if whole else column - 2
    return [(row[0], row[1], *map(float, row[2 + skipped : column + 1])) for row in cells[2:]]


def tables(page):
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


{"pictures": pictures, "tables": tables}[sys.argv[1]](pathlib.Path(sys.argv[2]))
