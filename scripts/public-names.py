#!/usr/bin/env python3
"""Lists the package's public names, and compares them with the list in docs/public-names.txt.

Usage: scripts/public-names.py          shows what differs, and exits 1 if anything does
       scripts/public-names.py --write  writes the list anew
       scripts/public-names.py --count  prints how many names each module has

One line for each declaration: its module, the type it belongs to, and its signature. It reads the text of the
sources and builds nothing: what the compiler adds by itself, such as Sendable of an actor, is not listed.
"""
import collections
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "public-names.txt"
TYPES = {"struct", "class", "enum", "protocol", "actor", "extension"}
DECLARATION = re.compile(
    r"((?:(?:@\w+(?:\([^()]*\))?|\b(?:public|package|internal|private|fileprivate|open)(?:\(set\))?"
    r"|\b(?:static|class|final|indirect|mutating|nonmutating|lazy|weak|override|convenience|required|consuming"
    r"|borrowing|prefix|postfix|infix|(?:nonisolated|unowned)(?:\(\w+\))?))\s+)*)"
    r"(?<![.\w`])(struct|class|enum|protocol|actor|extension|func|var|let|init|subscript|case|typealias"
    r"|associatedtype)\b(?!\s*:)")
# What a text says without meaning it. Of a string only plain words are kept, for default values.
SILENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|#+"""(?:.|\n)*?"""#+|"""(?:\\.|[^\\])*?"""|#+"[^\n]*?"#+'
    r'|"(?:\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\.|[^"\\\n])*"', re.S)
# A declaration goes on behind the end of a line that ends so, or before one that begins so.
UNFINISHED = re.compile(r"(?:[,:&=<]|->|\bwhere|\bthrows|\basync)\s*$")
GOES_ON = re.compile(r"\s*(?:[{&,:]|->|=[^=]|(?:throws|async|rethrows|where)\b)")
ACCESSOR = re.compile(r"\b(?:(?:non)?mutating\s+)?(?:get|set|_modify)\b(?:\s+async)?(?:\s+throws(?:\(\w+\))?)?")
UNSEEN = re.compile(r"(?:@inlinable|@usableFromInline|@inline\(\w+\)|\bpublic)\s+")
OPENING, CLOSING = "([{", ")]}"


def silence(match: re.Match) -> str:
    found = match.group()
    if found[0] == "/":
        return " "
    return found if re.fullmatch(r'"[\w .:/-]*"', found) else '"…"'


def end_of(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in OPENING) - (text[index] in CLOSING)
        if depth == 0:
            return index + 1
    raise SystemExit(f"public-names: no bracket closes this one: {text[start:start + 60]}")


def end_of_signature(text: str, start: int, keeps_value: bool) -> int:
    """The place of the body, of the initial value or of the line's end."""
    index = start
    while index < len(text):
        here = text[index]
        if here in "([":
            index = end_of(text, index)
            continue
        if here in "{}" or here == ";":
            break
        if here == "=" and not keeps_value and text[index - 1] in " \n" and text[index + 1] in " \n":
            break
        if here == "\n" and not UNFINISHED.search(text[start:index]) and not GOES_ON.match(text, index):
            break
        index += 1
    return index


class Module:
    def __init__(self, name: str):
        self.name, self.lines, self.hidden = name, [], set()

    def add(self, owner: str, text: str) -> None:
        line = " ".join(f"{self.name} {owner or '-'} {UNSEEN.sub('', text)}".split())
        self.lines.append(re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", line)))

    def read(self, text: str, owner: str, inherited: str) -> None:
        """Lists what a body declares; `inherited`: what is public there without a word, "all" or "case"."""
        index = 0
        while index < len(text):
            found = DECLARATION.search(text, index)
            bracket = re.compile(r"[(\[{]").search(text, index)
            if bracket and (not found or bracket.start() < found.start()):
                index = end_of(text, bracket.start())
                continue
            if not found:
                return
            kind = found.group(2)
            end = end_of_signature(text, found.end(), kind in ("typealias", "func", "case"))
            body = end_of(text, end) if text[end:end + 1] == "{" else end
            self.declare(found, kind, text[found.start():end], text[end + 1:body - 1], owner, inherited)
            index = max(body, end + 1)

    def declare(self, found, kind, signature, body, owner, inherited) -> None:
        words = found.group(1)
        is_public = re.search(r"\b(public|open)\b(?!\()", words) or (
            inherited in ("all", kind) and not re.search(r"\b(package|internal|private|fileprivate)\b(?!\()", words))
        name = re.match(r"\s*([^\s:(<{]+)", signature[found.end() - found.start():])
        inside = f"{owner}.{name.group(1)}" if owner and name else name and name.group(1)
        if kind == "extension":
            if name.group(1) not in self.hidden:
                if re.search(r"\w\s*:", re.sub(r"\bwhere\b.*|\[.*?\]", "", signature, flags=re.S)):
                    self.add("-", signature)
                self.read(body, inside, "all" if is_public else "")
        elif not is_public:
            if kind in TYPES:
                self.hidden.add(inside)
        else:
            if kind in ("var", "subscript") and body:
                accessors = [" ".join(one.split()) for one in ACCESSOR.findall(flat(body))]
                signature += " { " + " ".join(accessors or ["get"]) + " }"
            self.add(owner, signature)
            if kind in TYPES:
                self.read(body, inside, {"protocol": "all", "enum": "case"}.get(kind, ""))


def flat(text: str) -> str:
    """The text without what is between brackets."""
    result, index = [], 0
    while index < len(text):
        if text[index] in OPENING:
            index = end_of(text, index)
            result.append(";")
        else:
            result.append(text[index])
            index += 1
    return "".join(result)


def names() -> list[str]:
    lines = []
    for folder in sorted((ROOT / "Sources").iterdir()):
        module = Module(folder.name)
        texts = [SILENT.sub(silence, path.read_text()) for path in sorted(folder.rglob("*.swift"))]
        # Extensions are looked at when it is known which types are public.
        for text in texts:
            module.read(text, "", "")
        module.lines = []
        for text in texts:
            module.read(text, "", "")
            for exported in re.findall(r"@_exported public import (\w+)", text):
                module.add("-", f"exports {exported}")
        lines += sorted(module.lines)
    return lines


def main() -> int:
    now = names()
    if sys.argv[1:] == ["--count"]:
        counts = collections.Counter(line.split()[0] for line in now)
        print("\n".join(f"{name:24}{count:5}" for name, count in sorted(counts.items())))
        print(f"{'all':24}{len(now):5}")
        return 0
    if sys.argv[1:] == ["--write"]:
        LIST.write_text("\n".join(now) + "\n")
        return 0
    former = LIST.read_text().splitlines() if LIST.exists() else []
    changes = list(difflib.unified_diff(former, now, "docs/public-names.txt", "Sources", lineterm="", n=0))
    print("\n".join(changes), file=sys.stderr, end="\n" if changes else "")
    return 1 if changes else 0


sys.exit(main())
