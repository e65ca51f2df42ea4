#include "text/numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "text/rows_test.h"

using namespace fastsvm;

TEST_CASE("write_g is printf") {
    Random random(3);
    Numbers values{0,        100,      0.1,      1 / 3.0, 2.5,      0.00009999995,
                   99999.95, 999999.5, 999999.4, 1e-310,  HUGE_VAL, std::nan("")};
    for (int i = 0; i < 5000; ++i) values.insert(values.end(), {random.size(-25, 22), random.size(-320, 308)});
    // Ties in the last digit, and neighbours of round numbers.
    for (int k = -80; k < 70; ++k) values.push_back(std::ldexp(1, k));
    for (int k = 1; k < 3000; ++k)
        values.insert(values.end(), {std::ldexp(k, -21), std::ldexp(5 * k, -20), 998500.5 + k});
    for (int power = -22; power < 20; ++power)
        for (const char* number : {"1", "9.9999949", "9.9999950", "9.9999951", "1.2345650", "9.5", "5"}) {
            const double near = std::stod(number + ("e" + std::to_string(power)));
            values.insert(values.end(), {near, std::nextafter(near, 0), std::nextafter(near, 1e308)});
        }
    for (double value : values)
        for (int digits : {1, 3, 6, 16, 17})
            for (double signed_value : {value, -value}) {
                char ours[number_text_max], theirs[64];
                std::snprintf(theirs, sizeof theirs, "%.*g", digits, signed_value);
                CHECK(std::string(ours, write_g(ours, signed_value, digits)) == theirs);
            }
}
