#include "engine/cascade_file.h"

#include <algorithm>
#include <cmath>

#include "engine/body.h"
#include "engine/libsvm_file.h"
#include "engine/model_fault.h"
#include "simd/packed.h"

namespace fastsvm {

namespace {

std::int64_t coefficients_of(int degree, std::int64_t d) {
    std::int64_t out = 0;
    for (int k = 0; k <= degree; ++k) out += packed_size(k, d);
    return out;
}

double between_0_and_1(const OwnKeys& own, const std::string& key) {
    const double number = own.real(key);
    if (!(number > 0 && number < 1))
        own.fail(key, key + " " + own.word(key).substr(0, 40) + " found, expected a number between 0 and 1");
    return number;
}

}  // namespace

CascadeFile read_cascade(std::string_view text) {
    CompiledFile file = read_compiled(
        text, "SV", {"fingerprint", "features", "budget", "confidence", "tested", "longest", "nr_chosen", "nr_stages"},
        {raw_rows_key});
    const OwnKeys& own = file.own;
    Body& body = file.body;
    CascadeFile out;
    if (file.header.regression() || !file.header.pairs())
        body.fail("a cascade of a model without classes found", body.at - 1);
    out.fingerprint = own.word("fingerprint");
    out.raw_rows = own.raw_rows();
    out.budget = between_0_and_1(own, "budget");
    out.confidence = between_0_and_1(own, "confidence");
    const std::vector<int> tested = own.wholes("tested", 2);
    if (tested[0] < 1 || tested[1] < 0 || tested[1] > tested[0])
        own.fail("tested", "expected the number of tested rows, and of those that differ");
    out.tested = tested[0];
    out.differing = tested[1];
    out.features = read_ranges(own.words("features"), text.size());
    out.longest = own.real("longest");
    const std::int64_t d = static_cast<std::int64_t>(out.features.size()), pairs = file.header.pairs();
    const int chosen = own.whole("nr_chosen", 0), stages = own.whole("nr_stages", 1);
    if (chosen && file.header.kernel_type != "rbf") own.fail("nr_chosen", "vectors of a kernel other than rbf found");
    out.vectors = std::make_shared<const Rows>(body.vectors(file.header));
    body.record("chosen");
    out.chosen = body.whole_numbers(chosen, file.header.total_sv);
    body.record("center");
    out.center = body.numbers(d);
    std::int64_t before = 0;
    for (int i = 0; i < stages; ++i) {
        const std::size_t start = body.at;
        const std::vector<std::int64_t> numbers = body.record("stage", 2);
        if (numbers[0] > 3) body.fail("degree " + std::to_string(numbers[0]) + " found, expected 0 to 3", start);
        if (numbers[1] < before || numbers[1] > chosen)
            body.fail(std::to_string(numbers[1]) + " vectors found, expected " + std::to_string(before) + " to " +
                          std::to_string(chosen),
                      start);
        CascadeStage stage;
        stage.degree = static_cast<int>(numbers[0]);
        stage.vectors = before = numbers[1];
        stage.threshold = body.numbers(1)[0];
        // More numbers than the file has bytes cannot be meant.
        const std::int64_t most = static_cast<std::int64_t>(text.size());
        const std::int64_t each = d > 4000 && stage.degree > 1 ? most : coefficients_of(stage.degree, d);
        if (each > most / pairs || stage.vectors > most / pairs)
            body.fail("the file ends before the stage's coefficients", start);
        stage.polynomial = body.numbers(pairs * each);
        stage.coefficients = body.numbers(pairs * stage.vectors);
        out.stages.push_back(std::move(stage));
    }
    body.end("the stages that nr_stages announces");
    out.header = std::move(file.header);
    return out;
}

}  // namespace fastsvm
