#!/usr/bin/env python3
"""Prepares what docc converts: the modules' catalogs, their symbol graphs and the guides' catalog.

    docs-catalogs.py prepare WORK MODULE...
    docs-catalogs.py inherit WORK MODULE
    docs-catalogs.py navigator SITE

WORK/graphs holds the symbol graphs of all modules. A page of docs/ is included as it is in the
repository, with its links changed to links of the site. "inherit" comes before a module is converted
and after those that it builds on.
"""

import functools
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "docs/site/Guides.docc"
# Pages of the repository that the site has, besides those of docs.
TOP_PAGES = ["SECURITY.md", "CHANGELOG.md"]


def page_name(path):
    """What a page of the repository is called on the site."""
    name = path.stem.lower()
    return f"decisions-{name}" if path.parent.name == "decisions" else name


PAGES = {
    path.relative_to(ROOT).as_posix(): page_name(path)
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in TOP_PAGES)]
    if SITE not in path.parents
}
TITLES = {
    name: next(
        line[2:].strip() for line in (ROOT / path).read_text().splitlines() if line[:2] == "# "
    )
    for path, name in PAGES.items()
}


def outside_code(text, change):
    """The text with each line outside of its code blocks changed."""
    lines, in_code = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("    "):
            line = change(line)
        lines.append(line)
    return "\n".join(lines)


def headings(page):
    """The anchor that docc gives each heading of a page, by the one that a repository's page has."""
    found = {}
    in_code = False
    for line in (ROOT / page).read_text().splitlines():
        in_code ^= line.startswith("```")
        match = re.match(r"#{2,6} +(.*)", line)
        if match and not in_code:
            title = match[1].replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            anchor = re.sub(r"[^\w\-.:?!$&'()*+;=@~/ ]", "", title).replace(" ", "-")
            found[slug] = re.sub(r"[`'\"]", "", anchor)
    return found


def site_link(folder, match):
    """A link of a repository's page, as one of the site; without a page there, its text alone."""
    text, target = match[1], match[2]
    if ":" in target:
        return match[0]
    file, _, anchor = target.partition("#")
    path = folder.joinpath(file).resolve().relative_to(ROOT).as_posix()
    if path in PAGES:
        if anchor:
            anchor = "#" + headings(path)[anchor]
        return f"[{text}](doc:{PAGES[path]}{anchor})"
    catalog = re.fullmatch(r"Sources/(\w+)/\w+\.docc/(\w+)\.md", path)
    if catalog:
        # A module's own page has its name.
        page = "" if catalog[2] == catalog[1] else f"/{catalog[2]}"
        return f"[{text}](doc:/{catalog[1]}{page})"
    return text


def link_line(folder, line):
    """A line of a repository's page with links of the site."""
    link = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
    return link.sub(functools.partial(site_link, folder), line)


def short_abstract(text):
    """The page with the first sentence of its first paragraph as the abstract."""
    title, _, rest = text.partition("\n")
    first, gap, more = rest.strip("\n").partition("\n\n")
    sentence = re.match(r"(?:[^.]|\.(?!\s))+\.(?=\s+[A-Z`@])", first)
    if sentence and not first.startswith(("#", "- ", "|")):
        first = sentence[0] + "\n\n" + first[sentence.end() :].lstrip()
    return f"{title}\n\n{first}{gap}{more}"


def include_pages(catalog):
    """Puts the repository's pages, and the images they show, into the guides' catalog."""
    for path, name in PAGES.items():
        source = ROOT / path
        text = source.read_text()
        for image in re.findall(r"!\[[^\]]*\]\(([^):]+)\)", text):
            shutil.copy(source.parent / image, catalog)
        text = re.sub(r"(!\[[^\]]*\])\((?:[^):]*/)?([^):/]+)\)", r"\1(\2)", text)
        text = outside_code(text, functools.partial(link_line, source.parent))
        (catalog / f"{name}.md").write_text(short_abstract(text))


MENTION = re.compile(
    "`?(?<![\\w/])(" + "|".join(re.escape(path) for path in PAGES) + ")`?(?: in the repository)?"
)


def name_pages(text):
    """Text of a module with the pages of the repository that it names as links to the site's."""

    def link(match):
        name = PAGES[match[1]]
        return f"[{TITLES[name]}](/documentation/guides/{name})"

    return MENTION.sub(link, text)


def is_from(module, identifier):
    """Whether a mangled identifier is that of a declaration in a module."""
    return identifier.startswith(f"s:{len(module)}{module}")


def tidy(graph, module, modules):
    """The symbol graph without what the standard library adds to each type; its comments linked.

    Members that a protocol of the same module adds are listed like the type's own.
    """

    def is_noise(identifier):
        base, inherited, _ = identifier.partition("::SYNTHESIZED::")
        return inherited and not any(is_from(name, base) for name in modules)

    symbols = [each for each in graph["symbols"] if not is_noise(each["identifier"]["precise"])]
    relations = [each for each in graph["relationships"] if not is_noise(each["source"])]
    for relation in relations:
        # docc lists neither a member with an origin nor one that the compiler calls synthesized.
        if is_from(module, relation.get("sourceOrigin", {}).get("identifier", "")):
            del relation["sourceOrigin"]
            relation["source"] = relation["source"].replace("::SYNTHESIZED::", "::OWN::")
    for symbol in symbols:
        if is_from(module, symbol["identifier"]["precise"]):
            name = symbol["identifier"]["precise"].replace("::SYNTHESIZED::", "::OWN::")
            symbol["identifier"]["precise"] = name
    for symbol in symbols:
        for line in symbol.get("docComment", {}).get("lines", []):
            line["text"] = name_pages(line["text"])
    return {**graph, "symbols": symbols, "relationships": relations}


def prepare(work, *modules):
    """Makes the catalogs and the symbol graphs, WORK/<module>.docc and WORK/<module>.graphs."""
    for module in modules:
        catalog = work / f"{module}.docc"
        source = ROOT / "Sources" / module / f"{module}.docc"
        if source.is_dir():
            shutil.copytree(source, catalog)
        else:
            catalog.mkdir()
        for page in catalog.glob("*.md"):
            page.write_text(outside_code(page.read_text(), name_pages))
        graphs = work / f"{module}.graphs"
        graphs.mkdir()
        for path in (work / "graphs").glob("*.symbols.json"):
            if re.split("[.@]", path.name)[0] == module:
                graph = tidy(json.loads(path.read_text()), module, modules)
                (graphs / path.name).write_text(json.dumps(graph))
    guides = work / "Guides.docc"
    shutil.copytree(SITE, guides)
    include_pages(guides)
    front = guides / "Guides.md"
    links = "\n".join(f"- ``/{module}``" for module in sorted(modules))
    front.write_text(front.read_text().replace("<!-- modules -->", links))


def inherit(work, module):
    """Lists on the page of each class what it inherits from a class of a module converted before."""
    graph = json.loads((work / f"{module}.graphs" / f"{module}.symbols.json").read_text())
    names = {each["identifier"]["precise"]: each["names"]["title"] for each in graph["symbols"]}
    for relation in graph["relationships"]:
        parent, _, name = relation.get("targetFallback", "").partition(".")
        archive = work / f"{parent}.doccarchive"
        if relation["kind"] != "inheritsFrom" or not archive.is_dir():
            continue
        paths = [
            each["referenceURL"].partition("/documentation")[2]
            for each in json.loads((archive / "linkable-entities.json").read_text())
        ]
        inherited = re.compile(rf"/{parent}/{name}/(?!init|.*-Implementations)[^/]+")
        links = [f"- ``{path}``" for path in sorted(paths) if inherited.fullmatch(path)]
        waiting = [each for each in links if "Async(" in each]
        calls = [each for each in links if each not in waiting]
        lines = [f"# ``{names[relation['source']]}``", "## Topics", f"### Inherited from {name}"]
        lines += calls + [f"### Inherited from {name}, for async code"] + waiting
        page = work / f"{module}.docc" / f"{names[relation['source']]}-inherited.md"
        page.write_text("\n\n".join(lines) + "\n")


def navigator(site):
    """Puts the guides and all modules into one tree, so that its filter finds all on every page."""
    path = site / "index/index.json"
    index = json.loads(path.read_text())
    for (root,) in index["interfaceLanguages"].values():
        guides, *modules = root["children"]
        for module in modules:
            # The page shows the tree of one "module" alone.
            module["type"] = "collection"
        head = {"title": "Modules", "type": "groupMarker"}
        last = next(
            number for number, each in enumerate(guides["children"])
            if each["type"] == "groupMarker" and each["title"] == "Modules"
        )  # fmt: skip
        modules.sort(key=lambda each: each["title"])
        root.update(path=guides["path"], title=guides["title"])
        root["children"] = [*guides["children"][:last], head, *modules]
    path.write_text(json.dumps(index))


if __name__ == "__main__":
    step, folder, *names = sys.argv[1:]
    {"prepare": prepare, "inherit": inherit, "navigator": navigator}[step](pathlib.Path(folder), *names)
