// Slices of a text, and a writer of their rows, for parsers and for the scaling of rows.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "simd/loops.h"
#include "text/parse.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// One thread's share of a text: whole lines, where their rows go, and what parsing found.
struct TextSlice {
    const char* begin = nullptr;
    const char* end = nullptr;
    // First row and entry to write: upper bounds of those before this slice.
    std::int64_t row_base = 0, entry_base = 0;
    std::int64_t rows = 0, entries = 0;  // written
    std::int32_t max_index = 0;
    bool increasing = true;
    std::string error;
    std::int64_t fields = -1;
    ScalingCounts scaling;
    std::vector<Gap> comments;  // by the row after them, in the slice
};

// Writes a slice's rows entry by entry, scaled if requested.
template <bool scaled> class EntryWriter {
public:
    // target: has memory for all slices. indptr: sets the ends of rows, as entry_base plus the slice's entries so far.
    EntryWriter(TextSlice& slice, Rows& target, const Format& format)
        : slice_(slice),
          row_end_(target.indptr.data() + slice.row_base + 1),
          squared_norms_(target.squared_norms.data() + slice.row_base),
          indices_(target.indices.data() + slice.entry_base),
          values_(target.values.data() + slice.entry_base),
          scaling_(format.scaling) {}

    void begin_row() {
        row_ = count_;
        squared_norm_ = 0;
        if constexpr (scaled) {
            counts_of_row_ = ScalingCounts();
            shifted_ = scaling_->shifted().data();
        }
    }

    // Adds an entry to the row; indices increase. Returns false if it cannot be scaled (scaling_error).
    bool put(std::int32_t index, double value) {
        if constexpr (scaled) {
            ++counts_of_row_.before;
            put_shifted(index);
            const Scaling::Feature* const feature = scaling_->find(index);
            if (!feature) {
                if (scaling_->names(index)) return true;  // a constant feature
                if (index == 0 || scaling_->kind() == Scaling::Kind::standard) return false;
                if (value != 0) counts_of_row_.leave_out(index);
                return true;
            }
            value = scaling_->scale(*feature, value);
            if (!std::isfinite(value)) return false;
            if (value == 0) return true;
        }
        write(index, value);
        return true;
    }

    // Reads plain words (simd/loops.h) between p and `end` into the row. Returns where it stopped, or null if
    // put() refuses one. last: previous index; set to the last one read.
    const char* take_plain(const char* p, const char* end, std::int64_t& last) {
        const auto read = loops().text->read_plain;
        if constexpr (!scaled) {
            PlainWords words{indices_ + count_, values_ + count_, no_limit, last, squared_norm_, 0};
            p = read(p, end, words);
            count_ += words.count;
            squared_norm_ = words.squared_norm;
            last = words.last;
        } else {
            std::int32_t indices[2 * plain_words_at_once];
            double values[2 * plain_words_at_once];
            for (std::int64_t count = -1; count != 0;) {
                PlainWords words{indices, values, 2 * plain_words_at_once, last, 0, 0};
                p = read(p, end, words);
                count = words.count;
                last = words.last;
                for (std::int64_t i = 0; i < count; ++i)
                    if (!put(indices[i], values[i])) return nullptr;
            }
        }
        return p;
    }

    void end_row() {
        if constexpr (scaled) {
            put_shifted(std::numeric_limits<std::int64_t>::max());
            slice_.scaling.add(counts_of_row_);
        }
        if (count_ > row_ && indices_[count_ - 1] > slice_.max_index) slice_.max_index = indices_[count_ - 1];
        *squared_norms_++ = squared_norm_;
        *row_end_++ = slice_.entry_base + count_;
        ++slice_.rows;
    }

    void drop_row() { count_ = row_; }

    // end: after the last row.
    void end_slice(const char* end) {
        slice_.entries = count_;
        slice_.end = end;
    }

private:
    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

    void write(std::int32_t index, double value) {
        indices_[count_] = index;
        values_[count_++] = value;
        squared_norm_ += value * value;
    }

    // Writes missing features below `index` whose 0 scales to another value.
    void put_shifted(std::int64_t index) {
        const Scaling::Feature* const end = scaling_->shifted().data() + scaling_->shifted().size();
        for (; shifted_ != end && shifted_->index < index; ++shifted_) write(shifted_->index, shifted_->zero);
        if (shifted_ != end && shifted_->index == index) ++shifted_;
    }

    TextSlice& slice_;
    std::int64_t* row_end_;
    double* squared_norms_;
    std::int32_t* const indices_;
    double* const values_;
    const Scaling* const scaling_;
    std::int64_t count_ = 0, row_ = 0;
    double squared_norm_ = 0;
    const Scaling::Feature* shifted_ = nullptr;  // next one
    ScalingCounts counts_of_row_;
};

}  // namespace fastsvm
