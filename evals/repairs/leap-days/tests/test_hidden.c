#include <stdio.h>

#include "days.h"

static int failures = 0;

static void expect(int found, int wanted, const char *what) {
    if (found == wanted) return;
    printf("FAILED: %s is %d, not %d\n", what, found, wanted);
    failures++;
}

int main(void) {
    expect(day_of_year(2023, 1, 1), 1, "2023-01-01");
    expect(day_of_year(2023, 2, 1), 32, "2023-02-01");
    expect(day_of_year(2023, 3, 1), 60, "2023-03-01");
    expect(day_of_year(2023, 12, 31), 365, "2023-12-31");
    expect(day_of_year(2024, 3, 1), 61, "2024-03-01");
    expect(day_of_year(2024, 12, 31), 366, "2024-12-31");
    expect(day_of_year(2000, 2, 29), 60, "2000-02-29");
    expect(day_of_year(1900, 2, 29), 0, "1900-02-29");
    expect(day_of_year(2023, 2, 29), 0, "2023-02-29");
    expect(day_of_year(2023, 13, 1), 0, "month 13");
    expect(day_of_year(2023, 4, 31), 0, "2023-04-31");
    expect(day_of_year(2023, 4, 0), 0, "day 0");
    expect(is_leap(1600), 1, "1600");
    expect(is_leap(1700), 0, "1700");
    expect(is_leap(2024), 1, "2024");
    expect(is_leap(2023), 0, "2023");
    for (int year = 1583; year < 2600; year++) {
        int day = 0;
        for (int month = 1; month <= 12; month++)
            for (int of = 1; of <= days_in_month(year, month); of++) expect(day_of_year(year, month, of), ++day, "a day");
    }
    return failures != 0;
}
