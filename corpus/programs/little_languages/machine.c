/* Interpreter of a byte code with eight registers; runs the Collatz sequence in it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SET, ADD, MULI, ODD, HALF, INC, JNZ, JLT, JMP, HALT };

struct op {
    uint8_t code, a, b;
    int32_t value;
};

static const struct op program[] = {
    {SET, 0, 0, 1},      /* 0: n = 1 */
    {ADD, 1, 0, 0},      /* 1: x = n */
    {SET, 2, 0, 0},      /* 2: steps = 0 */
    {ODD, 3, 1, 0},      /* 3 */
    {JNZ, 3, 0, 7},      /* 4: odd -> 7 */
    {HALF, 1, 0, 0},     /* 5 */
    {JMP, 0, 0, 9},      /* 6 */
    {MULI, 1, 0, 3},     /* 7 */
    {INC, 1, 0, 0},      /* 8 */
    {INC, 2, 0, 0},      /* 9 */
    {JLT, 1, 0, 12},     /* 10: x < 2 -> 12 */
    {JMP, 0, 0, 3},      /* 11 */
    {INC, 0, 0, 0},      /* 12: n++ */
    {JLT, 0, 5, 1},      /* 13: n < limit -> 1 */
    {HALT, 0, 0, 0},
};

int main(int argc, char **argv)
{
    uint64_t r[8] = {0}, executed = 0;
    r[5] = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    for (int pc = 0;;) {
        const struct op *o = &program[pc++];
        executed++;
        switch (o->code) {
        case SET: r[o->a] = o->value; break;
        case ADD: r[o->a] = r[o->b]; break;
        case MULI: r[o->a] *= o->value; break;
        case ODD: r[o->a] = r[o->b] & 1; break;
        case HALF: r[o->a] >>= 1; break;
        case INC: r[o->a]++; break;
        case JNZ: if (r[o->a]) pc = o->value; break;
        case JLT: if (r[o->a] < (o->b ? r[o->b] : 2)) pc = o->value; break;
        case JMP: pc = o->value; break;
        default:
            printf("%llu instructions\n", (unsigned long long)executed);
            return 0;
        }
    }
}
