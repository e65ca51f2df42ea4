#include "capi/handle.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "simd/loops.h"

namespace fastsvm {

namespace {

AnswerOptions answer_options_of(const LoadedModel& loaded, const std::shared_ptr<Fallback>& exact,
                                OutputKind output_kind) {
    AnswerOptions out;
    out.model = loaded.model;
    out.probability = output_kind == OutputKind::probabilities;
    out.values = output_kind == OutputKind::values;  // with radii if certified
    out.exact = exact;
    out.may_be_few = true;
    return out;
}

std::atomic<bool> instructions_chosen{false};

}  // namespace

std::shared_ptr<const Rows> CallMemory::rows(const Scaling* scaling, std::optional<RowError>& error) {
    const auto refused = scaling ? scale_rows(*scaling, given, scaled) : std::nullopt;
    if (refused) error = RowError(given.first_line + refused->first, refused->second);
    return std::shared_ptr<const Rows>(std::shared_ptr<const Rows>(), scaling ? &scaled : &given);
}

Handle::Handle(LoadedModel found, const std::shared_ptr<Fallback>& exact)
    : loaded(std::move(found)),
      predictors{Predictor(answer_options_of(loaded, exact, OutputKind::labels)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::values)),
                 Predictor(answer_options_of(loaded, exact, OutputKind::probabilities))} {}

std::string read_file(const char* path) {
    const auto fail = [] { throw std::system_error(errno, std::generic_category()); };
    std::FILE* const file = std::fopen(path, "rb");
    if (!file) fail();
    std::string out;
    try {
        for (std::size_t size = std::size_t{1} << 16;;) {
            const std::size_t held = out.size();
            out.resize(held + size);
            errno = 0;
            const std::size_t got = std::fread(&out[held], 1, size, file);
            out.resize(held + got);
            if (got < size && std::ferror(file)) fail();
            if (got < size) break;
            size = out.size();
        }
    } catch (...) {
        std::fclose(file);
        throw;
    }
    std::fclose(file);
    return out;
}

void choose_instructions(const char* name) {
    if (name)
        require_instruction_set(name, "name");
    else if (!instructions_chosen)
        select_instruction_set_of_environment();
    instructions_chosen = true;
}

}  // namespace fastsvm
