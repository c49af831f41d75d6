// The members of JSON objects as columns of texts, one per name; `payload_columns.py` asks for them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "arrow.hpp"
#include "scanner.hpp"

namespace ledgerframes {

// A column of texts, as Arrow lays it out.
class Cells {
public:
    explicit Cells(const ArrowArray& array)
        : rows(static_cast<size_t>(array.length)),
          first_(static_cast<size_t>(array.offset)),
          valid_(static_cast<const uint8_t*>(array.buffers[0])),
          offsets_(static_cast<const int32_t*>(array.buffers[1]) + array.offset),
          bytes_(static_cast<const char*>(array.buffers[2])) {}

    bool given(size_t row) const {
        const size_t bit = first_ + row;
        return valid_ == nullptr || (valid_[bit / 8] >> bit % 8 & 1) != 0;
    }

    // The texts of all rows, one behind the other, and where one begins there.
    std::string together() const { return {bytes_ + offsets_[0], bytes_ + offsets_[rows]}; }
    size_t start(size_t row) const { return static_cast<size_t>(offsets_[row] - offsets_[0]); }

    const size_t rows;

private:
    size_t first_;
    const uint8_t* valid_;
    const int32_t* offsets_;
    const char* bytes_;
};

// A member that comes twice counts as its last. A member of another name is irregular if `closed`.
inline Array members(const Cells& cells, const std::vector<std::string>& names, bool closed) {
    // A copy, for the scanner needs a zero byte at the end.
    const std::string text = cells.together();
    std::vector<Text> found(cells.rows * names.size());
    std::deque<std::string> arena;
    Scanner scanner(text.data(), text.data() + text.size(), arena);
    for (size_t row = 0; row < cells.rows; ++row) {
        const char* const begin = text.data() + cells.start(row);
        const char* const end = text.data() + cells.start(row + 1);
        if (!cells.given(row) || is(Text(begin, end), "null")) continue;
        scanner.go_to(begin);
        size_t likely = 0;  // servers send members in one order
        scanner.object([&](Text name) {
            size_t at = likely;
            if (at == names.size() || names[at] != name.view())
                at = static_cast<size_t>(std::find(names.begin(), names.end(), name.view()) - names.begin());
            if (at == names.size() && closed) throw Irregular{};
            const Text value = scanner.value();
            if (at == names.size()) return;
            found[row * names.size() + at] = value;
            likely = at + 1;
        });
        // An object without an end runs into the next row; Python refuses a member that is not UTF-8, whichever it is.
        if (scanner.at() != end) throw Irregular{};
        if (scanner.beyond_ascii() && !is_utf8(begin, end)) throw Irregular{};
    }
    Batch batch(cells.rows);
    for (size_t at = 0; at < names.size(); ++at)
        batch.texts([&](size_t row) { return found[row * names.size() + at]; });
    return batch.finish();
}

}  // namespace ledgerframes
