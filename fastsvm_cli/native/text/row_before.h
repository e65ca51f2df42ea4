// Speeds up the parsing of rows with the same indices: compares their texts with an earlier row's, instead of reading
// digits.
#pragma once
#include <cstdint>

#include "simd/text_loops.h"

namespace fastsvm {

// Remembers the index texts of a row while they match those of later rows. After a poor match, it skips ever more rows
// before it remembers another one.
class RowBefore {
public:
    const IndexTexts& texts() const { return texts_; }

    // Call this after reading a row whose words begin at p. repeated: how many of them texts() matched.
    void end_row(const char* p, const std::int32_t* indices, std::int64_t count, std::int64_t repeated) {
        if (texts_.count > 0) {
            keep_if(4 * repeated >= 3 * count);
        } else if (++paused_ >= pause_) {
            remember(p, indices, count);
        }
    }

private:
    void keep_if(bool useful);
    void remember(const char* p, const std::int32_t* indices, std::int64_t count);

    IndexTexts texts_;
    // Rows to skip after a poor match, and those skipped.
    std::int64_t pause_ = 0, paused_ = 0;
};

}  // namespace fastsvm
