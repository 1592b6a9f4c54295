#!/usr/bin/env python3
"""Looks at pages of the documentation site in headless Chromium, as wide as a phone and a desktop.

    docs-browser.py SITE FOLDER [--every NUMBER] [--pictures FOLDER] [PATH...]

A page must render with a title and text, say nothing in the console that is an error, load all that
it asks for, and not be wider than its window. All pages of guides, modules and storages are looked at,
and of the others every fortieth, or the PATHs alone. FOLDER is for what Chromium writes.
"""

import argparse
import base64
import fcntl
import functools
import http.server
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import threading
import time

WIDTHS = {"phone": (390, 844), "desktop": (1280, 900)}
SECONDS = 30

# What a page shows, once its content is there; nothing before.
LOOK = """(() => {
  const title = document.querySelector("main h1, .main h1");
  const app = document.querySelector("#app");
  if (!title || !app || document.readyState !== "complete") return null;
  const main = document.querySelector("main, .main");
  const images = [...main.querySelectorAll("img")];
  for (const each of images) each.loading = "eager";
  if (images.some(each => !each.complete)) return null;
  const body = main.cloneNode(true);
  body.querySelectorAll(".hierarchy, .topictitle, .footer, h2, h3").forEach(each => each.remove());
  return {
    length: body.textContent.replace(/\\s+/g, "").length,
    broken: images.filter(each => !each.naturalWidth).map(each => each.src),
    width: document.scrollingElement.scrollWidth,
  };
})()"""

# What the navigator lists for words in its filter; each is in another part of the site.
FILTER = """(async () => {
  const input = document.querySelector(".navigator-card input, .navigator-card [role=textbox]");
  if (!input) return [];
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, WORD);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  for (let turn = 0; turn < 50; turn++) {
    await new Promise(done => setTimeout(done, 100));
    const links = [...document.querySelectorAll(".navigator-card .card-body a[href]")];
    const paths = links.map(each => new URL(each.href).pathname.replace(/\\/$/, "").toLowerCase());
    if (paths.includes(PATH)) return true;
  }
  return false;
})()"""
FILTERED = {
    "AEADAlgorithm": "/documentation/cryptocore/aeadalgorithm",
    "VaultStorage": "/documentation/vaultbackend/vaultstorage",
    "InjectStorage": "/documentation/injectregistry/injectstorage",
    "Moving to Inject": "/documentation/guides/injection-migration",
}


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome-stable"):
        if shutil.which(name):
            return name
    sys.exit("docs-check: there is no chromium on PATH")


class Browser:
    """Chromium, spoken to by its DevTools protocol over two pipes."""

    def __init__(self, folder):
        read, self.output = os.pipe()
        self.input, write = os.pipe()
        # Without its sandbox, which containers don't allow; it opens nothing but this site.
        command = [
            chromium(), "--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}",
            "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-dev-shm-usage", "--hide-scrollbars", "about:blank",
        ]  # fmt: skip
        # Chromium reads from 3 and writes to 4, which may be others' here.
        theirs = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (read, write)]
        shell = ["bash", "-c", 'exec 3<&{} 4>&{}; exec "$@"'.format(*theirs), "bash"]
        places = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR")
        self.process = subprocess.Popen(
            shell + command,
            pass_fds=theirs,
            env={**os.environ, **dict.fromkeys(places, folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (read, write, *theirs):
            os.close(each)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], SECONDS)[0]:
                raise TimeoutError(f"Chromium said nothing for {SECONDS} s")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise EOFError("Chromium ended")
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def show(self, url):
        """Goes to a page, and returns what it shows and the complaints about it."""
        self.events = []
        self.call("Page.navigate", url=url)
        end = time.monotonic() + SECONDS
        shown = None
        while not shown and time.monotonic() < end:
            time.sleep(0.02)
            answer = self.call("Runtime.evaluate", expression=LOOK, returnByValue=True)
            shown = answer["result"].get("value")
        self.call("Runtime.evaluate", expression="0")
        return shown, list(complaints(self.events))

    def finds(self, word, path):
        """Whether the navigator's filter leads from a word to a page."""
        script = FILTER.replace("WORD", json.dumps(word)).replace("PATH", json.dumps(path))
        options = {"awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", expression=script, **options)
        return answer["result"].get("value") is True

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(SECONDS)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def complaints(events):
    for event in events:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                yield "an exception: " + json.dumps(parameters["exceptionDetails"])[:300]
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "assert"):
                yield "the console: " + json.dumps(parameters["args"])[:300]
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                entry = parameters["entry"]
                yield f"the console: {entry['text']} {entry.get('url', '')}"
            case "Network.responseReceived" if parameters["response"]["status"] >= 400:
                yield f"{parameters['response']['status']} for {parameters['response']['url']}"
            case "Network.loadingFailed" if not parameters.get("canceled"):
                yield f"a request failed: {parameters['errorText']}"


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """Chromium ends requests of a page that it leaves."""


def chosen_pages(site, every):
    """The front page, all guides, all modules, all storages, and some of the rest."""
    chosen, rest = ["/"], []
    for path in sorted((site / "data").rglob("*.json")):
        page = json.loads(path.read_text())
        where = "/" + path.relative_to(site / "data").with_suffix("").as_posix() + "/"
        is_guide = page["kind"] == "article" and page["metadata"].get("role") != "collectionGroup"
        is_storage = page["metadata"].get("title", "").endswith(("Storage", "Store"))
        is_type = page["metadata"].get("symbolKind") in ("class", "struct", "typealias")
        if is_guide or is_storage and is_type or where.count("/") <= 3:
            chosen.append(where)
        else:
            rest.append(where)
    return chosen + rest[::every]


def judge(shown, said, width):
    """What is wrong with a page."""
    yield from said
    if not shown:
        yield f"it has shown no title in {SECONDS} s"
        return
    if shown["length"] < 5:
        yield "it has nothing below its title"
    for image in shown["broken"]:
        yield f"{image} is no picture"
    if shown["width"] > width:
        yield f"it is {shown['width']} wide"


def look(browser, address, arguments, paths):
    wrong = 0
    for name, (width, height) in WIDTHS.items():
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=name == "phone",
        )  # fmt: skip
        for path in paths:
            shown, said = browser.show(address + path)
            for each in judge(shown, said, width):
                print(f"docs-check: {path} on a {name}: {each}", file=sys.stderr)
                wrong += 1
            if arguments.pictures:
                file = f"{path.strip('/').replace('/', '_') or 'front'}-{name}.png"
                browser.picture(arguments.pictures / file)
    if not arguments.paths:
        browser.show(f"{address}/documentation/storagecore/")
        for word, path in FILTERED.items():
            if not browser.finds(word, path):
                print(f"docs-check: the filter leads from {word!r} not to {path}", file=sys.stderr)
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("folder")
    parser.add_argument("--every", type=int, default=40)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()

    handler = functools.partial(Quiet, directory=arguments.site)
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    paths = arguments.paths or chosen_pages(arguments.site, arguments.every)
    browser = Browser(arguments.folder)
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        wrong = look(browser, address, arguments, paths)
    finally:
        browser.close()
    print(f"docs-check: looked at {len(paths)} pages, each on a phone and a desktop; {wrong} faults")
    sys.exit(bool(wrong))


main()
