#include "program/exact_file.h"

#include <sys/stat.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/checksum.h"
#include "files/file_error.h"
#include "models/kind.h"

namespace fastsvm {

namespace {
constexpr off_t most_at_once = 1 << 20;     // larger files are read on a thread
constexpr std::size_t most_kept = 1 << 24;  // larger texts are read twice
}  // namespace

struct ExactFile::Content {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr failure;
    std::string fingerprint, text;  // text: empty if it is not kept

    void read(const std::string& path, const OpenFile& open, bool again) {
        std::string kept, found;
        std::exception_ptr thrown;
        try {
            Sha256 sum;
            bool keeps = true;
            of_model(path, [&] {
                read_model_content(open(path), [&](const char* data, std::size_t size) {
                    sum.update(data, size);
                    keeps = keeps && (kept.size() + size <= most_kept || !again);
                    if (keeps)
                        kept.append(data, size);
                    else
                        kept = std::string();
                });
            });
            found = sum.hexadecimal().substr(0, fingerprint_digits);
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard<std::mutex> lock(mutex);
        text = std::move(kept);
        fingerprint = std::move(found);
        failure = thrown;
        done = true;
        changed.notify_all();
    }
};

ExactFile::ExactFile(std::string path, OpenFile open)
    : path(std::move(path)), open_(std::move(open)), content_(std::make_shared<Content>()) {
    struct stat status{};
    if (this->path != "-" && stat(this->path.c_str(), &status) != 0) throw system_error(display(this->path), errno);
    const bool again = S_ISREG(status.st_mode);  // a pipe cannot be read again
    const auto read = [content = content_, path = this->path, open = open_, again] {
        content->read(path, open, again);
    };
    if (again && status.st_size <= most_at_once) {
        read();
        return;
    }
    try {
        std::thread(read).detach();
    } catch (const std::system_error&) {  // no thread available
        read();
    }
}

void ExactFile::expect(std::string fingerprint, std::string model_file, bool wait) {
    expected_ = std::move(fingerprint);
    model_file_ = std::move(model_file);
    wait_ = wait;
}

void ExactFile::check(bool at_end) const {
    std::unique_lock<std::mutex> lock(content_->mutex);
    if (!content_->done && !wait_ && !at_end) return;
    content_->changed.wait(lock, [this] { return content_->done; });
    if (content_->failure) std::rethrow_exception(content_->failure);
    compare(content_->fingerprint);
}

std::string ExactFile::text() {
    check(true);
    {
        const std::lock_guard<std::mutex> lock(content_->mutex);
        if (!content_->text.empty()) return std::exchange(content_->text, std::string());
    }
    std::string out;
    of_model(path, [&] {
        read_model_content(open_(path), [&](const char* data, std::size_t size) { out.append(data, size); });
    });
    compare(fingerprint(out));  // it may have changed since
    return out;
}

void ExactFile::compare(const std::string& found) const {
    if (found != expected_)
        throw LineError(LineError::model, path, 0,
                        "this is not the model that " + model_file_ + " was compiled from (their fingerprints differ)");
}

}  // namespace fastsvm
