import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if os.environ.get("ALONE") is None:  # once more, on a copy without the old program
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree("tide", f"{folder}/tide")
        environment = {**os.environ, "ALONE": "1", "PYTHONPATH": folder}
        sys.exit(subprocess.run([sys.executable, os.path.abspath(__file__)], cwd=folder, env=environment).returncode)

sys.path.append(str(Path(__file__).parent))
import reference
from tide.report import make_report

SETTINGS = {"alarm_metres": "2.50", "quiet_minutes": 30}


class Reports(unittest.TestCase):
    def check(self, lines, **settings):
        settings = {**SETTINGS, **settings}
        self.assertEqual(make_report(lines, settings), reference.make_report(lines, settings), (lines, settings))

    def test_cents(self):
        for height in ("1.15", "0.29", "2.3", "4", "0.57", "16.40", "+1.1", ".5"):
            self.check([f"08:00;{height}"])

    def test_commas_comments_and_blanks(self):
        self.check(["08:00;1,15", "# none", "", "  09:00 ; 2.60  # storm", "   # more\n", "10:00;2,60\n"])
        self.check(["# nothing"])
        self.check([])

    def test_below_zero(self):
        self.check(["08:00;-0.05"])
        self.check(["08:00;-1.25", "09:00;-1.26", "10:00;-0.30"], alarm_metres="-1.25")
        self.check(["08:00;-0.01", "09:00;-0.02"])

    def test_alarms(self):
        day = [f"{hour:02}:{minute:02};2.{40 + minute // 5}" for hour in range(6, 9) for minute in range(0, 60, 5)]
        for quiet in (0, 1, 5, 29, 30, 31, 600):
            self.check(day, quiet_minutes=quiet)
            self.check(day, quiet_minutes=quiet, alarm_metres="2.45")
        self.check(day, alarm_metres=" 2,44 ".strip().replace(",", "."))

    def test_equal_heights_and_times(self):
        self.check(["10:00;2.70", "08:00;2.70", "09:00;2.70"])
        self.check(["08:00;2.70", "08:00;2.60", "08:00;1.00"])
        self.check(["08:00;1.00", "08:00;2.60", "08:00;2.70", "09:00;0"], quiet_minutes=0)

    def test_random_days(self):
        chance = random.Random(7)
        for _ in range(150):
            lines = [
                f"{chance.randrange(24):02}:{chance.randrange(60):02};{chance.randrange(-90, 320) / 100:.2f}"
                for _ in range(chance.randrange(1, 30))
            ]
            self.check(lines, alarm_metres=chance.choice(["2.50", "0.00", "-0.40"]), quiet_minutes=chance.randrange(90))


unittest.main()
