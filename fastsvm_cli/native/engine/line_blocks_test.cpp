#include "engine/line_blocks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "text/rows_test.h"

using namespace fastsvm;

namespace {

void no_name(const RowProblem&) {}

std::vector<std::string> filled(BadRows& bad_rows, const std::string& text, std::int64_t rows) {
    std::vector<std::string> buffers;
    bad_rows.fill(text, rows, [&](const std::string& buffer) { buffers.push_back(buffer); });
    return buffers;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += part;
    return out;
}

}  // namespace

TEST_CASE("lines of nan come in buffers, however long they are") {
    BadRows bad_rows(true, no_name);
    for (int i = 0; i < 250000; ++i) bad_rows.filler += "nan ";
    bad_rows.filler += '\n';
    bad_rows.begin(1, {{0, 3, 3}, {1, 40, 40}, {2, 1, 1}}, {});
    const std::vector<std::string> buffers = filled(bad_rows, "a\nb\n", 2);
    const auto times = [&](std::size_t n) { return joined(std::vector<std::string>(n, bad_rows.filler)); };
    CHECK(joined(buffers) == times(3) + "a\n" + times(40) + "b\n" + times(1));
    for (const std::string& buffer : buffers) CHECK(buffer.size() < 3 * bad_rows.filler.size());
}

TEST_CASE("the lines of a block may be filled up in parts") {
    const std::string lines = "a\nb\nc\nd\ne\nf\n";
    for (std::size_t cut = 0; cut < 7; ++cut) {
        BadRows bad_rows(true, no_name);
        bad_rows.filler = "-\n";
        bad_rows.begin(1, {{0, 1, 1}, {2, 3, 2}, {5, 1, 1}, {6, 3, 3}}, {});
        std::string found = joined(filled(bad_rows, lines.substr(0, 2 * cut), static_cast<std::int64_t>(cut)));
        found += joined(filled(bad_rows, lines.substr(2 * cut), static_cast<std::int64_t>(6 - cut)));
        found.erase(std::remove(found.begin(), found.end(), '\n'), found.end());
        CHECK(found == "-ab--cde-f---");
    }
}

TEST_CASE("lines of rows that cannot be evaluated are counted too") {
    Random random(3);
    for (int trial = 0; trial < 300; ++trial) {
        // Rows, with their line numbers, between lines that are not rows; the model refuses some of them.
        struct Line {
            std::int64_t number;
            bool good;
        };
        std::vector<Line> read;
        std::vector<Gap> gaps;
        const int lines = random.below(41);
        for (int at = 0; at < lines; ++at) {
            const int fate = random.below(8);
            const std::int64_t row = static_cast<std::int64_t>(read.size());
            if (fate > 5) {
                if (gaps.empty() || gaps.back().row != row) gaps.push_back({row, 0, 0});
                ++gaps.back().lines, ++gaps.back().bad;
            } else {
                read.push_back({101 + at, fate > 0});
            }
        }
        BadRows bad_rows(false, no_name);
        bad_rows.begin(101, gaps, {});
        for (std::size_t first = 0, last; first < read.size(); first = last) {
            last = std::min(read.size(), first + 1 + static_cast<std::size_t>(random.below(9)));
            std::vector<RowProblem> dropped;
            std::vector<std::int64_t> chosen, expected;
            std::int64_t good = 0;
            for (std::size_t at = first; at < last; ++at) {
                if (!read[at].good) {
                    dropped.emplace_back(at - first, "why");
                } else {
                    if (random.chance(0.7)) chosen.push_back(good), expected.push_back(read[at].number);
                    ++good;
                }
            }
            bad_rows.drop(dropped);
            CHECK(bad_rows.lines(chosen) == expected);
            filled(bad_rows, joined(std::vector<std::string>(static_cast<std::size_t>(good), "x\n")), good);
        }
    }
}
