import tempfile
import unittest
from pathlib import Path

from share import Refused, Share


class Sharing(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.base = Path(self.temporary.name)
        self.root = self.base / "files"
        for name in (
            "files/notes.txt", "files/notes..txt", "files/a..b/c.txt", "files/notes/a b.txt", "files/100%25.txt",
            "files/.env", "files/.git/config", "files-private/key.txt", "secret.txt",
        ):
            path = self.base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        (self.root / "out.txt").symlink_to(self.base / "secret.txt")
        (self.root / "up").symlink_to(self.base)
        (self.root / "inner.txt").symlink_to("notes.txt")
        (self.root / "settings.txt").symlink_to(".env")
        (self.root / "loop").symlink_to("loop")
        self.share = Share(self.root)

    def tearDown(self):
        self.temporary.cleanup()

    def test_what_is_given_out(self):
        for address, name in (
            ("/notes.txt", "notes.txt"), ("notes.txt", "notes.txt"), ("/notes..txt", "notes..txt"),
            ("/a..b/c.txt", "a..b/c.txt"), ("/notes/a%20b.txt", "notes/a b.txt"),
            ("/notes/../notes.txt", "notes.txt"), ("/100%2525.txt", "100%25.txt"), ("/inner.txt", "notes.txt"),
            ("/%6eotes.txt", "notes.txt"),
        ):
            self.assertEqual(self.share.read(address).decode(), "files/" + name, address)

    def test_what_is_refused(self):
        for address in (
            "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/notes/../../secret.txt",
            "/../files-private/key.txt", "/%2e%2e/files-private/key.txt", "/out.txt", "/up/secret.txt",
            "/up/files-private/key.txt", f"/{self.base}/secret.txt", f"//{self.base}/secret.txt",
            "/.env", "/%2eenv", "/.git/config", "/settings.txt", "/notes", "/", "", "/none.txt", "/a%00b", "/a\0b",
            "/loop", "/notes.txt/x", "/" + "x" * 5000,
        ):
            with self.assertRaises(Refused, msg=address):
                self.share.read(address)

    def test_a_root_behind_a_link_and_one_by_a_relative_path(self):
        (self.base / "link").symlink_to(self.root)
        self.assertEqual(Share(self.base / "link").read("/notes.txt"), b"files/notes.txt")
        self.assertEqual(Share(str(self.root) + "/").read("/notes.txt"), b"files/notes.txt")


unittest.main()
