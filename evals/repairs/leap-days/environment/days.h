/* Days of the Gregorian calendar. */
#ifndef DAYS_H
#define DAYS_H

int is_leap(int year);
/* The days of a month, 1 to 12; 0 for any other. */
int days_in_month(int year, int month);
/* The number of a day in its year, from 1; 0 for a date that does not exist. */
int day_of_year(int year, int month, int day);

#endif
