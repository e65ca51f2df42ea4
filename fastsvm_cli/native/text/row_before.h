// Rows that repeat the indices of the row before: the text of the indices of one row is remembered, and words of the
// next are compared with it instead of read digit by digit.
#pragma once
#include <cstdint>

#include "simd/text_loops.h"

namespace fastsvm {

class RowBefore {
public:
    const IndexTexts& texts() const { return texts_; }

    // Of a row that was read, whose words begin at p: its indices, and how many of them texts() had been of use for.
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
    // Rows for which nothing is remembered, after those that nothing was of use for; and those so far.
    std::int64_t pause_ = 0, paused_ = 0;
};

}  // namespace fastsvm
