#include <stdio.h>
#include <stdlib.h>

#include "days.h"

/* days YEAR MONTH DAY: build it with cc -o days main.c days.c */
int main(int count, char **words) {
    if (count != 4) return 2;
    printf("%d\n", day_of_year(atoi(words[1]), atoi(words[2]), atoi(words[3])));
    return 0;
}
