#!/usr/bin/env python3
"""Checks the arrows between the folders of StorageCore: a folder uses only types of earlier ones.

Prints each use of a type that a later folder declares, and exits 1 if there is any.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "Sources" / "StorageCore"
# Each folder may use the types of those before it.
ORDER = [
    "Errors", "Waiting", "Files", "Coding", "Place", "Keys", "Program", "Store", "Rotation",
    "Properties", "Live", "Transfer",
]
DECLARATION = re.compile(
    r"^(?:@[\w().,: ]+\s+)*((?:(?:public|package|internal|open|final|indirect|fileprivate|private"
    r"|nonisolated)\s+)*)(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)")


def main() -> int:
    texts = {}
    for path in sorted(ROOT.rglob("*.swift")):
        texts[path] = (path.relative_to(ROOT).parts[0], path.read_text())
    folders = {folder for folder, _ in texts.values()}
    unknown = sorted(folders - set(ORDER))
    for name in unknown:
        print(f"Sources/StorageCore/{name}: not in the order of {sys.argv[0]}", file=sys.stderr)
    owners = {}
    for folder, text in texts.values():
        for line in text.splitlines():
            match = DECLARATION.match(line)
            if match and "private" not in match.group(1):
                owners.setdefault(match.group(2), folder)
    rank = {name: index for index, name in enumerate(ORDER)}
    wrong = collections.defaultdict(set)
    for path, (folder, text) in texts.items():
        code = re.sub(r"//.*", "", text)
        code = re.sub(r'"(\\.|[^"\\\n])*"', '""', code)
        for word in set(re.findall(r"\b[A-Z]\w+", code)):
            owner = owners.get(word)
            if owner and rank.get(owner, -1) > rank.get(folder, len(ORDER)):
                wrong[path].add(f"{word} of {owner}")
    for path, uses in sorted(wrong.items()):
        print(f"{path.relative_to(ROOT.parent.parent)}: uses {', '.join(sorted(uses))}",
              file=sys.stderr)
    if wrong:
        print(f"imports: in StorageCore a folder uses only earlier ones: {', '.join(ORDER)}",
              file=sys.stderr)
    return 1 if wrong or unknown else 0


sys.exit(main())
