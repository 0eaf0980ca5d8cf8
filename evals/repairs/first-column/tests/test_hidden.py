import tempfile
import unittest
from pathlib import Path

from contacts import read_contacts

ADA = {"name": "Ada", "mail": "ada@example.org", "town": "Lübeck"}


class Contacts(unittest.TestCase):
    def read(self, data):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "some.csv"
            path.write_bytes(data)
            return read_contacts(path)

    def test_plain(self):
        self.assertEqual(self.read("name,mail,town\nAda,ada@example.org, Lübeck\n".encode()), [ADA])

    def test_with_a_mark(self):
        text = "\ufeffname,mail,town\r\nAda,ada@example.org,Lübeck\r\n"
        self.assertEqual(self.read(text.encode()), [ADA])

    def test_semicolons(self):
        for mark in ("", "\ufeff"):
            text = mark + "name;mail;town\r\nAda;ada@example.org;Lübeck\r\n"
            self.assertEqual(self.read(text.encode()), [ADA])

    def test_a_semicolon_in_a_value_does_not_matter(self):
        found = self.read(b'name,mail,town\n"a; b",m,t\n')
        self.assertEqual(found, [{"name": "a; b", "mail": "m", "town": "t"}])

    def test_a_comma_in_a_value_does_not_matter(self):
        found = self.read(b"name;mail;town\nLovelace, Ada;m;t\n")
        self.assertEqual(found, [{"name": "Lovelace, Ada", "mail": "m", "town": "t"}])

    def test_a_line_break_is_kept(self):
        found = self.read(b'name,mail,town\r\n"a\r\nb",m,t\r\n')
        self.assertEqual(found, [{"name": "a\r\nb", "mail": "m", "town": "t"}])


unittest.main()
