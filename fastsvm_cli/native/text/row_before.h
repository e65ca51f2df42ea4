// For rows that repeat the indices of the previous one: its index texts are compared instead of read digit by digit.
#pragma once
#include <cstdint>

#include "simd/text_loops.h"

namespace fastsvm {

class RowBefore {
public:
    const IndexTexts& texts() const { return texts_; }

    // For a row that was read, whose words begin at p. repeated: how many of its words texts() matched.
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
    // Rows not to remember after a poor match, and those passed so far.
    std::int64_t pause_ = 0, paused_ = 0;
};

}  // namespace fastsvm
