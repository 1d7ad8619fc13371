/* Where a Cortex-M begins: the stack at the end of the RAM of the board, and newlib's start. */
extern void _start(void);

struct vectors {
    unsigned long stack;
    void (*reset)(void);
};

__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    0x20400000UL, _start
};
