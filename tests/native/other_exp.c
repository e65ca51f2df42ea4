/* To preload: an exp that rounds to nearest. */
#include <math.h>
double exp(double x) { return (double)expl(x); }
