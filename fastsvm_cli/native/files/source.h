// The bytes of a file, or of standard input, whether it is plain or compressed with gzip.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace fastsvm {

// gzip is read with zlib, if the machine has it. What else a file may be compressed with is known by its first bytes,
// and refused by name.
class Source {
public:
    // path: a file, or "-" for standard input. Throws FileFault, as read does.
    explicit Source(const std::string& path);
    ~Source();
    Source(const Source&) = delete;

    // Fills room[0..size) with what there is, at least one byte; 0 at the end.
    std::size_t read(char* room, std::size_t size);
    // Whether more bytes can be had without waiting.
    bool ready() const;
    // All of it. look: given the first line, or so many bytes of a longer one, before more is read; what it throws ends
    // the reading.
    std::string whole(std::size_t look_after, const std::function<void(const std::string&)>& look);

private:
    class Inflater;
    std::size_t read_descriptor(char* room, std::size_t size);
    std::size_t read_file(char* room, std::size_t size);  // what was read already comes first
    const std::string path_;
    int file_ = -1;
    std::string pending_;    // read and not yet handed out
    std::size_t taken_ = 0;  // of pending_
    std::unique_ptr<Inflater> inflater_;
};

}  // namespace fastsvm
