extern void _start(void);
__attribute__((section(".vectors"), used)) void *const vectors[2] = {(void *)0x20400000, (void *)_start};
