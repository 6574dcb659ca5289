#include <stdio.h>

int main(void)
{
    double balance = 0, amount;
    int choice;
    do {
        printf("1 deposit  2 withdraw  3 balance  0 quit\n> ");
        if (scanf("%d", &choice) != 1)
            break;
        if (choice == 1 || choice == 2) {
            printf("Amount: ");
            scanf("%lf", &amount);
            balance += choice == 1 ? amount : -amount;
        } else if (choice == 3)
            printf("You have %.2f\n", balance);
    } while (choice != 0);
    return 0;
}
