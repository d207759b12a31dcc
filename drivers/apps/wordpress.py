"""WordPress: installed by its own pages, written to by XML-RPC and its comment form."""

import random
import re
import xmlrpc.client

from php import copy_of

NAME = "wordpress"
SCHEMA = "wordpress"
USER, PASSWORD = "editor", "one two three four"

CONFIGURATION = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', getenv('APP_USER'));
define('DB_PASSWORD', getenv('APP_PASSWORD'));
define('DB_HOST', getenv('APP_DATABASE'));
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('AUTH_KEY', 'a'); define('SECURE_AUTH_KEY', 'b'); define('LOGGED_IN_KEY', 'c'); define('NONCE_KEY', 'd');
define('AUTH_SALT', 'e'); define('SECURE_AUTH_SALT', 'f'); define('LOGGED_IN_SALT', 'g'); define('NONCE_SALT', 'h');
$table_prefix = 'wp_';
define('WP_HOME', 'http://app.test');
define('WP_SITEURL', 'http://app.test');
// Nothing goes out to the world, and nothing is done that no page has asked for.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('DISABLE_WP_CRON', true);
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""

WORDS = "nest egg wing bark seed tree winter cache query thread socket river stone".split()


def lay_out(tree, root):
    copy_of(tree, "usr/share/wordpress", root)
    (root / "wp-config.php").write_text(CONFIGURATION)


def install(server):
    answers = {"weblog_title": "Trees", "user_name": USER, "admin_password": PASSWORD, "admin_password2": PASSWORD,
               "pw_weak": "1", "admin_email": "editor@app.test", "blog_public": "0", "language": ""}
    status, page = server.page("/wp-admin/install.php?step=2", answers)
    if status != 200 or "Success" not in page:
        raise SystemExit(f"WordPress could not be installed: {status}\n{page[:2000]}")
    server.page("/wp-login.php")
    server.page("/wp-login.php", {"log": USER, "pwd": PASSWORD, "wp-submit": "Log In", "testcookie": "1"})


class Editor:
    """Writes what a seed says."""

    def __init__(self, server, seed):
        self.server, self.random, self.posts, self.comments = server, random.Random(seed), [1], [1]

    def _call(self, method, *arguments):
        body = xmlrpc.client.dumps((0, USER, PASSWORD, *arguments), method).encode()
        status, text = self.server.page("/xmlrpc.php", body, **{"Content-Type": "text/xml"})
        if status != 200:
            raise SystemExit(f"{method}: {status} {text[:500]}")
        return xmlrpc.client.loads(text)[0][0]

    def _text(self, words):
        return " ".join(self.random.choice(WORDS) for _ in range(words))

    def write(self):
        """One change; what it was."""
        kind = self.random.choice(("new", "new", "edit", "edit", "comment", "comment", "tag", "delete", "hide", "option"))
        post = self.random.choice(self.posts)
        content = {"post_title": self._text(3), "post_content": self._text(40)}
        if kind == "new":
            terms = {"post_tag": [self.random.choice(WORDS)], "category": [self.random.choice(WORDS[:3])]}
            self.posts.append(int(self._call("wp.newPost", content | {"post_status": "publish", "comment_status": "open", "terms_names": terms})))
        elif kind == "edit":
            self._call("wp.editPost", post, content)
        elif kind == "tag":
            self._call("wp.editPost", post, {"terms_names": {"post_tag": [self.random.choice(WORDS), self.random.choice(WORDS)]}})
        elif kind == "comment":
            self.comments.append(int(self._call("wp.newComment", post, {"content": self._text(8)})))
        elif kind == "hide":
            self._call("wp.editComment", self.comments.pop(), {"status": "hold"}) if len(self.comments) > 1 else None
        elif kind == "option":
            self._call("wp.setOptions", {"blog_tagline": self._text(4)})
        elif len(self.posts) > 3:
            self.posts.remove(post)
            self._call("wp.deletePost", post)
        return kind

    def paths(self):
        """Pages to look at."""
        post, word = self.random.choice(self.posts), self.random.choice(WORDS)
        return self.random.sample(
            ["/", "/", f"/?p={post}", f"/?p={post}", f"/?s={word}", f"/?tag={word}", "/?cat=2", "/?feed=rss2", "/?feed=comments-rss2",
             "/?author=1", "/?m=2026", "/?p=4711", "/?rest_route=/wp/v2/posts", f"/?rest_route=/wp/v2/comments&post={post}",
             "/wp-admin/edit.php", "/wp-admin/edit-comments.php", "/wp-admin/edit-tags.php?taxonomy=post_tag", "/wp-admin/users.php"], 6)


def settled(text):
    """Without what differs from one look at a page to the next."""
    # Addresses are hidden from robots, by chance each time otherwise.
    text = re.sub(r"&#0*(\d+);", lambda found: chr(int(found[1])), text)
    text = re.sub(r"\b[0-9a-f]{10}\b", "NONCE", text)
    text = re.sub(r'"(uploadUrl|time|heartbeat[^"]*)":"?\d+"?', "", text)
    text = re.sub(r'name="pagegen_timestamp" value="[^"]*"', "", text)
    text = re.sub(r"<lastBuildDate>.*?</lastBuildDate>", "", text)
    text = re.sub(r"var uid = \d+|userSettings = \{.*?\}", "", text)
    return re.sub(r"\d+ (seconds?|mins?|minutes?) ago|in \d+ (seconds?|mins?)", "", text)
