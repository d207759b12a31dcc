"""An application of Debian as files of our own, and PHP's built-in server for it."""

import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

HOST = "app.test"
START_SECONDS_MAX = 20
PAGE_SECONDS_MAX = 60


def copy_of(tree, source, target):
    """The application at `target`. Links to what Debian has elsewhere lead into the tree."""
    shutil.copytree(tree / source, target, symlinks=True)
    for path in target.rglob("*"):
        if path.is_symlink() and str(path.readlink()).startswith("/"):
            there = tree / str(path.readlink()).lstrip("/")
            path.unlink()
            if there.exists():
                path.symlink_to(there)


class Php:
    """One server of the application; `environment` says where its database is."""

    def __init__(self, name, root, log, **environment):
        self.name, self.root, self.log, self.environment = name, root, log, environment
        self.jar = CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar), Staying(self)
        )

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        options = ["-d", "opcache.enable_cli=1", "-d", "display_errors=0", "-d", "memory_limit=256M", "-d", "sendmail_path=/bin/true"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["php", *options, "-S", f"127.0.0.1:{self.port}", "-t", self.root],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | self.environment, start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"PHP did not start; see {self.log}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def page(self, path, data=None, **headers):
        """Status and text of a page; `data` is posted."""
        if data is not None and not isinstance(data, bytes):
            data = urllib.parse.urlencode(data).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Host": HOST} | headers)
        try:
            with self.opener.open(request, timeout=PAGE_SECONDS_MAX) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def borrow_cookies(self, other):
        """The client is the same one for both servers."""
        for cookie in other.jar:
            self.jar.set_cookie(cookie)


class Staying(urllib.request.HTTPRedirectHandler):
    """Redirects name the host that pages are asked of; they are followed on this server."""

    def __init__(self, server):
        self.server = server

    def redirect_request(self, request, file, code, message, headers, url):
        url = re.sub(r"^https?://" + re.escape(HOST), f"http://127.0.0.1:{self.server.port}", url)
        further = super().redirect_request(request, file, code, message, headers, url)
        if further is not None:
            further.add_unredirected_header("Host", HOST)
        return further
