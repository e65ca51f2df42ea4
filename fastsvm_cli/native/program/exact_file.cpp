#include "program/prediction.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/checksum.h"
#include "models/kind.h"

namespace fastsvm {

namespace {
constexpr off_t most_at_once = 1 << 20;     // larger files are read on a thread
constexpr std::size_t most_kept = 1 << 24;  // larger texts are read twice
}  // namespace

std::string read_model_file(const std::string& path, const OpenFile& open) {
    std::string out;
    struct stat status;
    const bool known = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    of_model(path, [&] {
        read_model_content(open(path), [&](const char* data, std::size_t size) {
            if (out.empty() && known) out.reserve(static_cast<std::size_t>(status.st_size));
            out.append(data, size);
        });
    });
    return out;
}

std::shared_ptr<ExactFile::Content> ExactFile::read(const std::string& path, const OpenFile& open, bool again) {
    const auto out = std::make_shared<Content>();
    Sha256 sum;
    bool keeps = true;
    of_model(path, [&] {
        read_model_content(open(path), [&](const char* data, std::size_t size) {
            sum.update(data, size);
            keeps = keeps && (out->text.size() + size <= most_kept || !again);
            if (keeps)
                out->text.append(data, size);
            else
                out->text = std::string();
        });
    });
    out->fingerprint = sum.hexadecimal().substr(0, fingerprint_digits);
    return out;
}

ExactFile::ExactFile(std::string path, OpenFile open) : path(std::move(path)), open_(std::move(open)) {
    struct stat status{};
    if (this->path != "-" && stat(this->path.c_str(), &status) != 0) throw system_error(display(this->path), errno);
    const bool again = S_ISREG(status.st_mode);  // a pipe cannot be read again
    const auto task = std::make_shared<std::packaged_task<std::shared_ptr<Content>()>>(
        [path = this->path, open = open_, again] { return read(path, open, again); });
    content_ = task->get_future().share();
    if (again && status.st_size <= most_at_once) {
        (*task)();
        return;
    }
    try {
        std::thread([task] { (*task)(); }).detach();
    } catch (const std::system_error&) {  // no thread available
        (*task)();
    }
}

void ExactFile::expect(std::string fingerprint, std::string model_file, bool wait) {
    expected_ = std::move(fingerprint);
    model_file_ = std::move(model_file);
    wait_ = wait;
}

void ExactFile::check(bool at_end) const {
    const bool waits = wait_ || at_end;
    if (waits || content_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        compare(content_.get()->fingerprint);
}

std::string ExactFile::text() {
    check(true);
    if (!content_.get()->text.empty()) return std::exchange(content_.get()->text, std::string());
    std::string out = read_model_file(path, open_);
    compare(fingerprint(out));  // it may have changed since
    return out;
}

void ExactFile::compare(const std::string& found) const {
    if (found != expected_)
        throw LineError(LineError::model, path, 0,
                        "this is not the model that " + model_file_ + " was compiled from (their fingerprints differ)");
}

}  // namespace fastsvm
