"""Times of schedules: what cron and systemd understand is understood here, and said in both forms, or in neither."""

import subprocess

import pytest

from halocline.hosts.executables import find_program
from halocline.protocol.errors import UsageError
from halocline.services.schedules.times import NICKNAMES, SHORT, parse_times

ANALYZE = find_program("systemd-analyze")
SAID = {
    "daily 09:00": (("*-*-* 09:00",), "0 9 * * *"),
    "weekdays 18:30": (("Mon..Fri *-*-* 18:30",), "30 18 * * 1-5"),
    "weekends 7:05": (("Sat,Sun *-*-* 7:05",), "5 7 * * 0,6"),
    "weekly 09:00": (("Mon *-*-* 09:00",), "0 9 * * 1"),
    "monthly 06:00": (("*-*-1 06:00",), "0 6 1 * *"),
    "hourly": (("*-*-* *:00:00",), "0 * * * *"),
    "quarterly": (("*-01,04,07,10-01 00:00:00",), "0 0 1 1,4,7,10 *"),
    "Mon..Fri 09:00": (("Mon..Fri 09:00",), "0 9 * * 1-5"),
    "Monday,Thu *-*-* 8..17:00/15": (("Monday,Thu *-*-* 8..17:00/15",), "0,15,30,45 8-17 * * 1,4"),
    "*-12-24 12:00:00": (("*-12-24 12:00:00",), "0 12 24 12 *"),
    "12-24": (("12-24",), "0 0 24 12 *"),
    "*:0/15": (("*:0/15",), "0,15,30,45 * * * *"),
    "0 9 * * 1-5": (("Mon,Tue,Wed,Thu,Fri *-*-* 9:0:00",), "0 9 * * 1-5"),
    "*/15 8-17 * jan,JUL mon": (("Mon *-1,7-* 8..17:0,15,30,45:00",), "*/15 8-17 * jan,JUL mon"),
    "0 0 * * 7": (("Sun *-*-* 0:0:00",), "0 0 * * 7"),
    "1-9/4 * * * *": (("*-*-* *:1,5,9:00",), "1-9/4 * * * *"),
    "0 9 1 * 1": (("Mon *-*-* 9:0:00", "*-*-1 9:0:00"), "0 9 1 * 1"),
    "0 9 */2 * 1": (("Mon *-*-1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 9:0:00",), "0 9 */2 * 1"),
    "@weekly": (("Sun *-*-* 0:0:00",), "0 0 * * 0"),
}
NOT_BY_CRON = {
    "Fri *-*-13 09:00": "where both meet",
    "*-02~01 09:00": "from the end of a month",
    "2031-01-01 00:00": "neither years",
    "*:*:30": "no seconds",
}
WRONG = {
    "": "it is empty",
    "now and then": "is not understood",
    "61 * * * *": "minute, which is 0 to 59",
    "* * * *": "is not understood",
    "5/10 * * * *": "is no minute",
    "Mon..Fri 25:00": "hour, which is 0 to 23",
    "Fri..Mon 09:00": "ends before it begins",
    "0 9 31 feb *": "that day never comes",
    "*-02-30 09:00": "that day never comes",
    "@reboot": "is not a time of day",
    "daily 09:00 09:00": "is not understood",
    "0 9 * * 1-9": "is no weekday",
    "09:00 09:00": "is not understood",
    "*:*/0": "is no minute",
}


@pytest.mark.parametrize("text", SAID)
def test_a_time_is_said_in_both_forms(text: str) -> None:
    found = parse_times(text)
    assert ((found.calendars, found.cron), found.no_cron) == (SAID[text], "")


@pytest.mark.parametrize("text", NOT_BY_CRON)
def test_what_cron_cannot_say_is_never_said_as_another_time(text: str) -> None:
    found = parse_times(text)
    assert (found.calendars, found.cron) == ((text,), "")
    assert NOT_BY_CRON[text] in found.no_cron


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_time_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(UsageError, match=WRONG[text]) as error:
        parse_times(text)
    assert "five fields of cron" in error.value.hint


def test_a_time_zone_stands_behind_the_time_or_is_given_beside_it() -> None:
    assert parse_times("09:00 Europe/Berlin") == parse_times("09:00", "Europe/Berlin")
    assert parse_times("09:00", "Europe/Berlin").say_in_zone("09:00") == "09:00 Europe/Berlin"
    assert parse_times("09:00 UTC").zone == "UTC"
    with pytest.raises(UsageError, match="no time zone 'Europe/Atlantis'"):
        parse_times("daily", "Europe/Atlantis")


@pytest.mark.process
@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_systemd_takes_every_calendar_event_that_is_said() -> None:
    texts = [*SAID, *NOT_BY_CRON, *SHORT, *NICKNAMES, "09:00 Europe/Berlin"]
    said = [times.say_in_zone(one) for times in map(parse_times, texts) for one in times.calendars]
    done = subprocess.run([str(ANALYZE), "calendar", *said], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Next elapse:") == len(said)
    assert "never" not in done.stdout


@pytest.mark.process
@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_what_is_refused_as_a_calendar_event_systemd_refuses_too() -> None:
    for text in ("Mon..Fri 25:00", "Fri..Mon 09:00", "now and then", "daily 09:00 09:00", "09:00 09:00"):
        assert subprocess.run([str(ANALYZE), "calendar", text], capture_output=True, check=False).returncode, text
