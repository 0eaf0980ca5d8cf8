#include "days.h"

static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int is_leap(int year) { return year % 4 == 0 && year % 100 != 0; }

int days_in_month(int year, int month) {
    if (month < 1 || month > 12) return 0;
    return DAYS[month - 1] + (month == 2 && is_leap(year));
}

int day_of_year(int year, int month, int day) {
    int sum = day;
    if (day < 1 || day > days_in_month(year, month)) return 0;
    for (int before = 1; before < month - 1; before++) sum += days_in_month(year, before);
    return sum;
}
