// Reads JSON from a page, forward only; `reading` calls it for members and values.
//
// Positions move along the page. Each function begins at the first byte of what it reads, and ends directly behind it.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "text.hpp"

namespace ledgerframes {

// What is read is not in canonical form, or no JSON: the page is left to the Python path.
struct Irregular {};

// A name and a value as they were sent.
struct Member {
    Text name, value;
};

class Scanner {
public:
    // `end` must be a zero byte, as behind every Python bytes object: it ends whatever is read.
    Scanner(const char* begin, const char* end, std::deque<std::string>& arena) : at_(begin), end_(end), arena_(arena) {}

    const char* at() const { return at_; }
    bool at_end() const { return at_ == end_; }

    // Goes to another value.
    void go_to(const char* position) {
        at_ = position;
        forget();
    }

    // Whether bytes beyond ASCII were met since `forget`.
    bool beyond_ascii() const { return beyond_ascii_; }
    void forget() { beyond_ascii_ = false; }

    // The next byte that is not blank.
    char next() {
        // Servers send no blanks.
        if (static_cast<unsigned char>(*at_) > ' ') return *at_;
        while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') ++at_;
        return *at_;
    }

    void expect(char byte) {
        if (*at_ != byte) throw Irregular{};
        ++at_;
    }

    // Calls `member(name)` in front of each value of an object; it has to read the value.
    template <class Read>
    void object(Read&& member) {
        expect('{');
        if (next() == '}') return expect('}');
        for (;;) {
            const Text name = quoted();
            // A name with escapes could be any name.
            if (escaped_) throw Irregular{};
            next(), expect(':'), next();
            member(name);
            if (next() == '}') return expect('}');
            expect(','), next();
        }
    }

    // Calls `element()` in front of each value of a list; it has to read the value.
    template <class Read>
    void list(Read&& element) {
        expect('[');
        if (next() == ']') return expect(']');
        for (;;) {
            element();
            if (next() == ']') return expect(']');
            expect(','), next();
        }
    }

    // A string's text, its escapes read.
    Text string() {
        const Text raw = quoted();
        return escaped_ ? without_escapes(raw) : raw;
    }

    // A string without escapes, as times are spelled.
    Text plain_string() {
        const Text raw = quoted();
        if (escaped_) throw Irregular{};
        return raw;
    }

    // A whole number of 18 digits at most; the Python path reads any other.
    int64_t integer() {
        const bool negative = *at_ == '-';
        if (negative) ++at_;
        const char* first = at_;
        int64_t value = 0;
        // No number of 18 digits overflows.
        for (; is_digit(*at_) && at_ - first < 18; ++at_) value = value * 10 + (*at_ - '0');
        if (at_ == first || (*first == '0' && at_ - first > 1) || !is_after_scalar(*at_)) throw Irregular{};
        return negative ? -value : value;
    }

    bool boolean() {
        if (literal("true")) return true;
        if (literal("false")) return false;
        throw Irregular{};
    }

    // Reads `null` if it is next.
    bool null() { return literal("null"); }

    // Any value, as it was sent; its grammar is checked.
    Text value() {
        const char* begin = at_;
        skip_value();
        return {begin, at_};
    }

private:
    static constexpr size_t kDeepest = 256;  // Python's parser gives up somewhere above

    static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
    static bool is_after_scalar(char byte) {
        return byte == ',' || byte == '}' || byte == ']' || byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
    }

    // What lies between quotes; sets `escaped_`.
    Text quoted() {
        expect('"');
        const char* begin = at_;
        escaped_ = false;
        while (*(at_ = plain_until(at_, end_, beyond_ascii_)) != '"') {
            // Neither the end of the page nor, in JSON, a control character may stand here.
            if (*at_ != '\\' || read_escape(at_) < 0) throw Irregular{};
            escaped_ = true;
        }
        return {begin, at_++};
    }

    Text without_escapes(Text raw) {
        std::string& text = arena_.emplace_back();
        for (const char* at = raw.data; at < raw.end();) {
            const char* begin = at;
            bool ignored = false;
            at = plain_until(at, raw.end(), ignored);
            text.append(begin, at);
            if (at == raw.end()) break;
            append_utf8(text, read_escape(at));
        }
        return {text.data(), text.data() + text.size()};
    }

    bool literal(Text word) {
        if (Text(at_, at_ + common(word)) != word || !is_after_scalar(at_[word.size])) return false;
        at_ += word.size;
        return true;
    }

    // How many of a word's bytes are left in the page.
    size_t common(Text word) const { return std::min<size_t>(word.size, static_cast<size_t>(end_ - at_)); }

    void skip_value() {
        open_.clear();
        for (;;) {
            if (*at_ == '{' || *at_ == '[') {
                open_.push_back(*at_++ == '{' ? '}' : ']');
                if (open_.size() > kDeepest) throw Irregular{};
                if (next() != open_.back()) {
                    skip_name();
                    continue;
                }
            } else if (*at_ == '"') {
                quoted();
            } else {
                skip_scalar();
            }
            // A value has ended, and with it maybe what holds it; or an empty object or list ends.
            while (!open_.empty() && next() == open_.back()) {
                ++at_;
                open_.pop_back();
            }
            if (open_.empty()) return;
            expect(','), next();
            skip_name();
        }
    }

    // Inside an object, the name in front of a value.
    void skip_name() {
        if (open_.back() != '}') return;
        quoted();
        next(), expect(':'), next();
    }

    void skip_scalar() {
        const char first = *at_;
        const bool valid = first == 't'   ? literal("true")
                           : first == 'f' ? literal("false")
                           : first == 'n' ? literal("null")
                                          : skip_number() && is_after_scalar(*at_);
        if (!valid) throw Irregular{};
    }

    bool skip_number() {
        if (*at_ == '-') ++at_;
        if (*at_ == '0') ++at_;
        else if (!skip_digits()) return false;
        if (*at_ == '.' && (++at_, !skip_digits())) return false;
        if (*at_ == 'e' || *at_ == 'E') {
            ++at_;
            if (*at_ == '+' || *at_ == '-') ++at_;
            return skip_digits();
        }
        return true;
    }

    bool skip_digits() {
        const char* begin = at_;
        while (is_digit(*at_)) ++at_;
        return at_ > begin;
    }

    const char* at_;
    const char* end_;
    std::deque<std::string>& arena_;
    std::vector<char> open_;  // what closes the objects and lists around the position, in `skip_value`
    bool escaped_ = false, beyond_ascii_ = false;
};

}  // namespace ledgerframes
