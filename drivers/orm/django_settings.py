"""Django's settings for its own tests: two databases on one server, and a runner that writes down how each test ended."""

import os

from django.test.runner import DiscoverRunner


def database(name):
    return {
        "ENGINE": "django.db.backends.mysql",
        "NAME": name,
        "HOST": "127.0.0.1",
        "PORT": os.environ["ORM_PORT"],
        "USER": os.environ["ORM_USER"],
        "PASSWORD": os.environ["ORM_PASSWORD"],
        "OPTIONS": {"charset": "utf8mb4"},
        "TEST": {"CHARSET": "utf8mb4", "COLLATION": "utf8mb4_general_ci"},
    }


DATABASES = {"default": database("django"), "other": database("django_other")}
SECRET_KEY = "of-the-tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_settings.Runner"


class Runner(DiscoverRunner):
    """Writes `END<TAB>TEST` for each test to $ORM_ENDS."""

    def get_resultclass(self):
        return noting(super().get_resultclass() or self.test_runner.resultclass)


def noting(base):
    """The class of results, which also writes ends down; of a test with parts, the worst."""

    class Noting(base):
        def startTest(self, test):
            self.end = "passed"
            super().startTest(test)

        def stopTest(self, test):
            self.note(self.end, test)
            super().stopTest(test)

        def note(self, end, test):
            with open(os.environ["ORM_ENDS"], "a") as ends:
                ends.write(f"{end}\t{test.id()}\n")

        def addFailure(self, test, err):
            self.end = "failed"
            super().addFailure(test, err)

        def addError(self, test, err):
            if not hasattr(test, "_testMethodName"):
                self.note("failed", test)  # a class's or a module's beginning
            self.end = "failed"
            super().addError(test, err)

        def addSubTest(self, test, subtest, err):
            self.end = "failed" if err else self.end
            super().addSubTest(test, subtest, err)

        def addUnexpectedSuccess(self, test):
            self.end = "failed"
            super().addUnexpectedSuccess(test)

        def addSkip(self, test, reason):
            self.end = "skipped" if self.end == "passed" else self.end
            super().addSkip(test, reason)

    return Noting
