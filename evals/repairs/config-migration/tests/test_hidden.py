import subprocess
import sys
import tomllib
import unittest

from migrate import migrate

PLAIN = {"format": 2, "server": {"host": "localhost", "port": 80}, "log": {"level": "info"}}


class Migration(unittest.TestCase):
    def check(self, text, **wanted):
        self.assertEqual(tomllib.loads(migrate(text)), {**PLAIN, **wanted})

    def test_the_example(self):
        self.check(
            'host = "example.org"\nport = 8080\ndebug = true\ntimeout = 1500\nusers = ["ada:admin", "ben"]\n',
            server={"host": "example.org", "port": 8080},
            log={"level": "debug"},
            limits={"timeout_seconds": 1.5},
            users=[{"name": "ada", "role": "admin"}, {"name": "ben", "role": "reader"}],
        )

    def test_nothing_said(self):
        self.check("")
        self.check("debug = false\nusers = []\n")
        self.check('host = "a"\n', server={"host": "a", "port": 80})
        self.check("timeout = 2000", limits={"timeout_seconds": 2})
        self.check("timeout = 0", limits={"timeout_seconds": 0})

    def test_odd_characters(self):
        self.check(
            'host = "a\\"b\\\\c\\n\\u0001\\u007fé"\nusers = ["o\'x\\t:a:b\\\\", "q\\"q:"]\n',
            server={"host": 'a"b\\c\n\x01\x7fé', "port": 80},
            users=[{"name": "o'x\t", "role": "a:b\\"}, {"name": 'q"q', "role": ""}],
        )

    def test_other_keys_are_kept(self):
        text = (
            'color = "blue"\nsize = -3\nratio = 0.5\nlarge = 1e300\nat = 2024-05-01T10:00:00Z\nday = 2024-05-01\n'
            'clock = 07:30:00\nlocal = 2024-05-01T10:00:00\nlists = [[1, 2], ["a"], []]\nends = [inf, -inf]\n'
            '"a \\"key\\"" = true\n"" = "empty"\n"dotted.key" = 1\n[table]\n"x y" = {deep = [{z = 1}, {}]}\nport = 5\n[[many]]\na = 1\n[[many]]\n'
        )
        old = tomllib.loads(text)
        self.check(text, extra=old)

    def test_the_second_format_stays(self):
        text = '# mine\nformat = 2\n[server]\nhost = "a"\n'
        self.assertEqual(migrate(text), text)
        once = migrate('host = "a"\nother = 1\n')
        self.assertEqual(migrate(once), once)

    def test_no_toml(self):
        with self.assertRaises(tomllib.TOMLDecodeError):
            migrate("host = ")

    def test_the_program(self):
        run = subprocess.run([sys.executable, "migrate.py"], input=b"port = 1\n", capture_output=True, check=True)
        self.assertEqual(tomllib.loads(run.stdout.decode())["server"]["port"], 1)


unittest.main()
