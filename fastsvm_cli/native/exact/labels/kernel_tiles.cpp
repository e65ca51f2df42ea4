#include "exact/labels/kernel_tiles.h"

#include <algorithm>

#include "simd/loops.h"

namespace fastsvm {

namespace {
constexpr std::int64_t vectors_at_once = 4 * panel;
}

void KernelTiles::add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                           Aligned<float>& scratch, double* sums) const {
    scratch.resize(static_cast<std::size_t>(n * vectors_at_once));
    for (std::int64_t s = from; s < to; s += vectors_at_once) {
        const std::int64_t count = std::min(vectors_at_once, to - s);
        values(block, s, s + count, scratch.data(), vectors_at_once);
        loops().products->add_products(n, count, coef + (s - from), scratch.data(), vectors_at_once, sums);
    }
}

}  // namespace fastsvm
