#include "engine/folded_keys.h"

namespace fastsvm {

std::optional<FoldedKeys> read_folded_keys(const OwnKeys& own) {
    const bool scale = own.has("scale"), factors = own.has("factors");
    const std::string given = scale ? "scale" : "factors";
    FoldedKeys out;
    if (own.has(inherited_key)) {
        if (scale || factors)
            own.fail(given, "'" + given + "' found, and '" + inherited_key + "', expected one of them");
        out.digest = own.word(inherited_key);
        out.inherited = true;
        return out;
    }
    if (!scale && !factors) return std::nullopt;
    if (!scale || !factors) own.fail(given, "'" + given + "' found, expected scale and factors together");
    const KeyWords& found = own.words("factors");
    for (const std::string& word : found.words) {
        const std::string quoted = "'" + word.substr(0, 40) + "' found, ";
        const std::size_t colon = word.find(':');
        if (colon == std::string::npos) own.fail("factors", quoted + "expected index:factor");
        const int index = whole_number(word.substr(0, colon), "factors", found.line);
        const double factor = real_number(word.substr(colon + 1), "factors", found.line);
        if (index < 0 || (!out.features.empty() && index <= out.features.back()) || factor == 0)
            own.fail("factors", quoted + "expected increasing indices, and no factor 0");
        out.features.push_back(index);
        out.factors.push_back(factor);
    }
    out.digest = own.word("scale");
    return out;
}

}  // namespace fastsvm
