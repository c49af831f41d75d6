// Record batches in the Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html), column by column.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "page.hpp"
#include "scanner.hpp"

extern "C" {
// As the interface declares it.
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
}

namespace ledgerframes {

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<void, Free>;

struct Release {
    void operator()(ArrowArray* array) const {
        // Without this function the content has moved on to somebody else.
        if (array->release != nullptr) array->release(array);
        delete array;
    }
};
using Array = std::unique_ptr<ArrowArray, Release>;

// What an array holds until it is released.
struct Held {
    std::vector<Buffer> buffers;
    std::vector<const void*> addresses;
    std::vector<Array> children;
    std::vector<ArrowArray*> child_addresses;
};

template <class Value>
Value* allocate(Buffer& buffer, size_t count) {
    buffer.reset(std::malloc(std::max<size_t>(count * sizeof(Value), 64)));
    if (!buffer) throw std::bad_alloc();
    return static_cast<Value*>(buffer.get());
}

inline Array make_array(size_t length, int64_t nulls, std::unique_ptr<Held> held) {
    for (const Buffer& buffer : held->buffers) held->addresses.push_back(buffer.get());
    for (const Array& child : held->children) held->child_addresses.push_back(child.get());
    Array array(new ArrowArray{});
    array->length = static_cast<int64_t>(length);
    array->null_count = nulls;
    array->n_buffers = static_cast<int64_t>(held->addresses.size());
    array->n_children = static_cast<int64_t>(held->child_addresses.size());
    array->buffers = held->addresses.data();
    array->children = held->child_addresses.empty() ? nullptr : held->child_addresses.data();
    array->release = [](ArrowArray* released) {
        delete static_cast<Held*>(released->private_data);
        released->release = nullptr;
    };
    array->private_data = held.release();
    return array;
}

// The columns of a record batch, added in their order. `get` gives the value of a row.
class Batch {
public:
    explicit Batch(size_t rows) : rows_(rows) {}

    template <class Get>
    void texts(Get get) {
        columns_.push_back(texts_of(rows_, get));
    }

    // `get` gives the Texts of a row.
    template <class Get>
    void lists(Get get) {
        std::vector<Text> elements;
        auto held = std::make_unique<Held>();
        held->buffers.resize(2);
        int32_t* offsets = allocate<int32_t>(held->buffers[1], rows_ + 1);
        for (size_t row = 0; row < rows_; ++row) {
            offsets[row] = offset(elements.size());
            const Texts list = get(row);
            elements.insert(elements.end(), list.first, list.first + list.size);
        }
        offsets[rows_] = offset(elements.size());
        const int64_t nulls = validity(held->buffers[0], [&](size_t row) { return get(row).given; });
        held->children.push_back(texts_of(elements.size(), [&](size_t at) { return elements[at]; }));
        columns_.push_back(make_array(rows_, nulls, std::move(held)));
    }

    // `get` gives an int64_t, or a std::optional of it.
    template <class Get>
    void numbers(Get get) {
        auto held = std::make_unique<Held>();
        held->buffers.resize(2);
        int64_t* values = allocate<int64_t>(held->buffers[1], rows_);
        size_t given = 0;
        for (size_t row = 0; row < rows_; ++row) {
            const std::optional<int64_t> value = get(row);
            given += value.has_value();
            values[row] = value.value_or(0);
        }
        if (given < rows_)
            bits(held->buffers[0], rows_, [&](size_t row) { return std::optional<int64_t>(get(row)).has_value(); });
        columns_.push_back(make_array(rows_, static_cast<int64_t>(rows_ - given), std::move(held)));
    }

    // `get` gives a std::optional<bool>.
    template <class Get>
    void booleans(Get get) {
        auto held = std::make_unique<Held>();
        held->buffers.resize(2);
        bits(held->buffers[1], rows_, [&](size_t row) { return get(row).value_or(false); });
        const int64_t nulls = validity(held->buffers[0], [&](size_t row) { return get(row).has_value(); });
        columns_.push_back(make_array(rows_, nulls, std::move(held)));
    }

    Array finish() {
        auto held = std::make_unique<Held>();
        held->buffers.resize(1);
        held->children = std::move(columns_);
        return make_array(rows_, 0, std::move(held));
    }

private:
    static int32_t offset(size_t total) {
        // More does not fit one array; the Python path says so.
        if (total > INT32_MAX) throw Irregular{};
        return static_cast<int32_t>(total);
    }

    // Writes a bit per row; gives how many are 0.
    template <class Get>
    static int64_t bits(Buffer& buffer, size_t count, Get get) {
        uint8_t* bytes = allocate<uint8_t>(buffer, (count + 7) / 8);
        std::memset(bytes, 0, (count + 7) / 8);
        size_t set = 0;
        for (size_t row = 0; row < count; ++row) {
            const bool bit = get(row);
            bytes[row / 8] = static_cast<uint8_t>(bytes[row / 8] | unsigned{bit} << row % 8);
            set += bit;
        }
        return static_cast<int64_t>(count - set);
    }

    // Writes which rows are not null, unless all are; gives how many are null.
    template <class Get>
    int64_t validity(Buffer& buffer, Get given) const {
        const int64_t nulls = bits(buffer, rows_, given);
        if (nulls == 0) buffer.reset();
        return nulls;
    }

    template <class Get>
    static Array texts_of(size_t count, Get get) {
        auto held = std::make_unique<Held>();
        held->buffers.resize(3);
        int32_t* offsets = allocate<int32_t>(held->buffers[1], count + 1);
        size_t total = 0, given = 0;
        for (size_t row = 0; row < count; ++row) {
            const Text text = get(row);
            offsets[row] = offset(total);
            total += text.size;
            given += text.given();
        }
        offsets[count] = offset(total);
        char* bytes = allocate<char>(held->buffers[2], total);
        for (size_t row = 0; row < count; ++row) {
            const Text text = get(row);
            if (text.size > 0) std::memcpy(bytes + offsets[row], text.data, text.size);
        }
        if (given < count) bits(held->buffers[0], count, [&](size_t row) { return get(row).given(); });
        return make_array(count, static_cast<int64_t>(count - given), std::move(held));
    }

    size_t rows_;
    std::vector<Array> columns_;
};

}  // namespace ledgerframes
