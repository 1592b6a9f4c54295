#!/usr/bin/env python3
"""Follows every link of the documentation site in its data files, and looks for empty pages.

    docs-links.py SITE

Links to other hosts are not followed.
"""

import json
import pathlib
import sys
import urllib.parse

site = pathlib.Path(sys.argv[1])
pages = {
    "/" + path.relative_to(site / "data").with_suffix("").as_posix(): json.loads(path.read_text())
    for path in (site / "data").rglob("*.json")
}
# The protocols of other packages and of the standard library have no page; a type's page names them.
modules = [page["metadata"]["title"] for where, page in pages.items() if where.count("/") == 2]
ours = tuple(f"{len(name)}{name}" for name in modules)
found = set()


def walk(node):
    """All objects within a page."""
    if isinstance(node, dict):
        yield node
        node = node.values()
    if isinstance(node, (list, type({}.values()))):
        for each in node:
            yield from walk(each)


def anchors(page):
    return {each["anchor"] for each in walk(page) if isinstance(each.get("anchor"), str)}


def look_at_url(where, url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme in ("http", "https", "mailto"):
        return
    path = urllib.parse.unquote(parts.path).rstrip("/").lower()
    if parts.scheme or not path.startswith("/"):
        found.add(f"{where}: the link {url!r} leads nowhere")
    elif path.startswith("/documentation"):
        if path not in pages:
            found.add(f"{where}: there is no page {path}")
        elif parts.fragment and urllib.parse.unquote(parts.fragment) not in anchors(pages[path]):
            found.add(f"{where}: {path} has no heading #{parts.fragment}")
    elif not (site / parts.path.lstrip("/")).is_file():
        found.add(f"{where}: there is no file {parts.path}")


def look_at_page(where, page):
    references = page.get("references", {})
    sections = page.get("relationshipsSections", [])
    conformances = {name for section in sections for name in section["identifiers"]}
    for name, reference in references.items():
        if reference["type"] == "unresolvable":
            is_named_alone = name in conformances and not name.split("/")[-1].startswith(ours)
            if not is_named_alone:
                found.add(f"{where}: {name} was not resolved")
        for each in [reference, *reference.get("variants", [])]:
            if "url" in each:
                look_at_url(where, each["url"])
    for node in walk({key: value for key, value in page.items() if key != "references"}):
        if node.get("type") in ("reference", "image") and node["identifier"] not in references:
            found.add(f"{where}: nothing is known of {node['identifier']}")
        elif node.get("type") == "link":
            look_at_url(where, node["destination"])
    content = [page.get("primaryContentSections"), page.get("abstract"), page.get("topicSections")]
    if not any(content) or not page["metadata"].get("title"):
        found.add(f"{where}: the page is empty")
    if not (site / where.lstrip("/") / "index.html").is_file():
        found.add(f"{where}: the page has no index.html")


def look_at_index(node):
    if "path" in node:
        look_at_url("the navigator", node["path"])
    for child in node.get("children", []):
        look_at_index(child)


for where, page in sorted(pages.items()):
    look_at_page(where, page)
index = json.loads((site / "index/index.json").read_text())
for roots in index["interfaceLanguages"].values():
    for root in roots:
        look_at_index(root)

for each in sorted(found):
    print("docs-check:", each, file=sys.stderr)
if not pages:
    sys.exit(f"docs-check: there are no pages in {site}")
print(f"docs-check: followed the links of {len(pages)} pages; {len(found)} are wrong")
sys.exit(bool(found))
