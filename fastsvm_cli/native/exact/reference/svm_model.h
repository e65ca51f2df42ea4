// SvmModel: the numbers of a LIBSVM model that its decision values depend on.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/reference/kernel.h"
#include "text/rows.h"

namespace fastsvm {

// Support vectors are class by class. Pairs are in LIBSVM's order.
struct SvmModel {
    Kernel kernel;
    bool regression = false;
    std::vector<std::int64_t> nr_sv;      // per class; one entry for one-class and regression models
    std::vector<double> rho;              // (pairs)
    std::shared_ptr<const Rows> vectors;  // with coefficients, (total_sv, nr_class - 1), as `leading`

    std::int64_t total_sv() const { return vectors->rows; }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t classes() const { return static_cast<std::int64_t>(nr_sv.size()); }
    std::int64_t pair_of(std::int64_t i, std::int64_t j) const { return i * classes() - i * (i + 1) / 2 + (j - i - 1); }
};

// Calls visit(pair, column) for every pair of class c, whose coefficients are in that column.
template <class Visit> void for_each_pair(const SvmModel& model, std::int64_t c, Visit visit) {
    if (model.classes() == 1 && model.pairs()) visit(0, 0);
    for (std::int64_t other = 0; other < model.classes(); ++other)
        if (other != c)
            visit(model.pair_of(c < other ? c : other, c < other ? other : c), other > c ? other - 1 : other);
}

}  // namespace fastsvm
