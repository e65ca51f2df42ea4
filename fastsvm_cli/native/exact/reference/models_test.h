// Exact models for unit tests.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "exact/reference/reference.h"
#include "text/rows_test.h"

namespace fastsvm {

// An untrained model: any coefficients make a decision function.
struct Machine {
    Kernel kernel;
    std::vector<Row> vectors;
    std::vector<std::int64_t> nr_sv;
    std::vector<Numbers> coef;  // (vectors), each (classes - 1), or 1
    Numbers rho;                // (pairs)

    Machine(Random& random, const Kernel& kernel, std::vector<Row> given, std::vector<std::int64_t> nr_sv)
        : kernel(kernel), vectors(std::move(given)), nr_sv(std::move(nr_sv)) {
        const std::size_t classes = this->nr_sv.size();
        coef.assign(vectors.size(), Numbers(std::max<std::size_t>(classes, 2) - 1));
        each_coef([&](double& a) { a = random.normal(); });
        rho.resize(classes == 1 ? 1 : classes * (classes - 1) / 2);
        for (double& each : rho) each = 0.5 * random.normal();
    }
    SvmModel model() const { return {kernel, false, nr_sv, rho, std::make_shared<const Rows>(rows_of(vectors, coef))}; }
    template <class Change> void each_coef(Change change) {
        for (Numbers& row : coef)
            for (double& a : row) change(a);
    }
};

// |x - z|^2
inline long double squared_distance(const Row& x, const Row& z) {
    long double sum = 0;
    auto b = z.begin();
    const auto add = [&](long double difference) { sum += difference * difference; };
    for (const auto [index, value] : x) {
        for (; b != z.end() && b->first < index; ++b) add(b->second);
        add(static_cast<long double>(value) - (b != z.end() && b->first == index ? (b++)->second : 0));
    }
    for (; b != z.end(); ++b) add(b->second);
    return sum;
}

}  // namespace fastsvm
