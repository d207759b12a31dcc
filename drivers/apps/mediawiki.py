"""MediaWiki: installed by its own script, written to by its API."""

import json
import os
import random
import re
import subprocess
import urllib.parse

from php import copy_of

NAME = "mediawiki"
SCHEMA = "mediawiki"
USER, PASSWORD = "Editor", "one two three four"
INSTALL_SECONDS_MAX = 600

# Behind what the installation writes. Who only compares writes nothing: that would be a write past the proxy. What an edit leaves for
# later is done before it is answered, so that the next page shows it.
SETTINGS = """
$wgDBserver = getenv('APP_DATABASE');
$wgDBuser = getenv('APP_USER');
$wgDBpassword = getenv('APP_PASSWORD');
$wgReadOnly = getenv('APP_READS_ONLY') ? 'it is compared' : null;
$wgJobRunRate = 0;
$wgForceDeferredUpdatesPreSend = true;
$wgMainCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_DB;
$wgLocalisationCacheConf['store'] = 'array';
$wgLocalisationCacheConf['storeDirectory'] = __DIR__ . '/words';
$wgRateLimits = [];
$wgPingback = false;
"""

WORDS = "Nest Egg Wing Bark Seed Tree Winter Cache Query Thread".split()


def lay_out(tree, root):
    copy_of(tree, "usr/share/mediawiki", root)
    (root / "LocalSettings.php").unlink(missing_ok=True)
    for name, source in (("extensions", "var/lib/mediawiki/extensions"), ("skins", "var/lib/mediawiki/skins")):
        if not (root / name).exists() and (tree / source).exists():
            (root / name).symlink_to(tree / source)
    (root / "words").mkdir()


def install(server):
    told = server.environment
    host, port = told["APP_DATABASE"].split(":")
    command = ["php", "maintenance/install.php", "--dbtype=mysql", f"--dbserver={host}:{port}", f"--dbname={SCHEMA}",
               f"--dbuser={told['APP_USER']}", f"--dbpass={told['APP_PASSWORD']}", "--server=http://app.test", "--scriptpath=",
               f"--confpath={server.root}", f"--pass={PASSWORD}", "Trees", USER]
    done = subprocess.run(command, cwd=server.root, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX, check=False,
                          env=os.environ | told, stdin=subprocess.DEVNULL)
    settings = server.root / "LocalSettings.php"
    if done.returncode or not settings.exists():
        raise SystemExit(f"MediaWiki could not be installed:\n{(done.stdout + done.stderr)[-3000:]}")
    settings.write_text(settings.read_text() + SETTINGS)


class Editor:
    """Writes what a seed says."""

    def __init__(self, server, seed):
        self.server, self.random, self.pages = server, random.Random(seed), ["Main Page"]
        token = self._api(action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        told = self._api({"lgname": USER, "lgpassword": PASSWORD, "lgtoken": token}, action="login")
        if told["login"]["result"] != "Success":
            raise SystemExit(f"MediaWiki lets nobody in: {told}")
        self.token = self._api(action="query", meta="tokens")["query"]["tokens"]["csrftoken"]

    def _api(self, data=None, **query):
        status, text = self.server.page("/api.php?" + urllib.parse.urlencode(query | {"format": "json"}), data)
        try:
            told = json.loads(text)
        except ValueError:
            raise SystemExit(f"{query}: {status} {text[:1000]}") from None
        if "error" in told:
            raise SystemExit(f"{query}: {told['error']}")
        return told

    def _text(self):
        words = [self.random.choice(WORDS) for _ in range(30)]
        links = f" [[{self.random.choice(WORDS)}]] [[Category:{self.random.choice(WORDS[:3])}]]"
        return " ".join(words) + links

    def write(self):
        kind = self.random.choice(("new", "edit", "edit", "append", "move", "delete", "protect"))
        page = self.random.choice(self.pages)
        if kind == "new":
            page = f"{self.random.choice(WORDS)} {self.random.randrange(20)}"
            self.pages.append(page)
        if kind in ("new", "edit"):
            self._api({"title": page, "text": self._text(), "token": self.token}, action="edit")
        elif kind == "append" or page == "Main Page":
            self._api({"title": page, "appendtext": "\n== More ==\n" + self._text(), "token": self.token}, action="edit")
        elif kind == "protect":
            self._api({"title": page, "text": "again", "token": self.token}, action="edit")
            self._api({"title": page, "protections": "move=sysop", "token": self.token}, action="protect")
        elif kind == "delete":
            self._api({"title": page, "text": "to go", "token": self.token}, action="edit")
            self._api({"title": page, "token": self.token}, action="delete")
            self.pages = [other for other in self.pages if other != page]
        else:
            to = f"{page} {self.random.randrange(1000)}"
            self._api({"title": page, "text": "to move", "token": self.token}, action="edit")
            self._api({"from": page, "to": to, "token": self.token, "noredirect": "1", "ignorewarnings": "1"}, action="move")
            self.pages = [to if other == page else other for other in self.pages]
        return kind

    def paths(self):
        page = urllib.parse.quote(self.random.choice(self.pages).replace(" ", "_"))
        word = self.random.choice(WORDS)
        at = "/index.php?title="
        return self.random.sample(
            [at + page, at + page, at + "Main_Page", at + page + "&action=history", at + page + "&action=info", at + page + "&action=raw",
             at + "Special:RecentChanges", at + "Special:AllPages", at + f"Special:Contributions/{USER}", at + "Special:Log",
             at + f"Special:WhatLinksHere/{word}", at + f"Category:{word}", at + "Special:Categories", at + f"Special:Search&search={word}",
             at + "Special:Statistics", "/api.php?action=query&list=allpages&format=json", "/api.php?action=query&meta=siteinfo&siprop=statistics&format=json"], 6)


def settled(text):
    """Without times, costs and what names the request."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r'"wgPageParseReport":\{.*?\}\}[,;]?', "", text, flags=re.S)
    text = re.sub(r'"(wgRequestId|wgBackendResponseTime|wgHostname)":("[^"]*"|\d+)', "", text)
    text = re.sub(r'"wgReadOnly":[^,]*|"reqId":"[^"]*"', "", text)
    text = re.sub(r'"(patrol|watch|csrf)Token":"[^"]*"', "", text)
    text = re.sub(r"fromFormatted=[^&\"]*|\d\d:\d\d, \d+ \w+ \d{4}", "", text)
    return re.sub(r"\d{14}|\b[0-9a-f]{32,40}\b", "", text)
