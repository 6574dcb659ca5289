/* The table is stored by rows; a query wants one column. */
#include <stdio.h>
#include <stdlib.h>

struct row {
    int id, customer, product;
    float price;
    char comment[112];
};

int main(int argc, char **argv)
{
    long rows = atol(argv[1]) / 8, queries = atol(argv[2]) * 16;
    struct row *table = malloc(rows * sizeof *table);
    if (!table)
        return 1;
    for (long i = 0; i < rows; i++) {
        table[i].id = i;
        table[i].customer = i * 2654435761u % 1000;
        table[i].product = i % 97;
        table[i].price = i % 1013 * 0.1f;
    }
    for (long q = 0; q < queries; q++) {
        double sum = 0;
        for (long i = 0; i < rows; i++)
            if (table[i].customer < 500 + q)
                sum += table[i].price;
        printf("%ld %.1f\n", q, sum);
    }
    free(table);
    return 0;
}
