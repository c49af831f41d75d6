// Texts, and what is known of the bytes inside JSON strings: where they end, their escapes, whether they are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(LEDGERFRAMES_PLAIN_SCAN)
#elif defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define LEDGERFRAMES_SSE2
#elif defined(__aarch64__)
#include <arm_neon.h>
#define LEDGERFRAMES_NEON
#endif

namespace ledgerframes {

// A text inside a page or an arena; null if it has no data.
struct Text {
    const char* data = nullptr;
    uint32_t size = 0;

    Text() = default;
    Text(const char* begin, const char* end) : data(begin), size(static_cast<uint32_t>(end - begin)) {}
    template <size_t N>
    Text(const char (&literal)[N]) : data(literal), size(N - 1) {}

    bool given() const { return data != nullptr; }
    const char* end() const { return data + size; }
    std::string_view view() const { return {data, size}; }
};

inline bool operator==(Text one, Text other) { return one.view() == other.view(); }
inline bool operator!=(Text one, Text other) { return !(one == other); }
inline bool operator<(Text one, Text other) { return one.view() < other.view(); }

// Whether a text is a literal; shorter code than `==`, as the length is known.
template <size_t N>
bool is(Text text, const char (&literal)[N]) {
    return text.size == N - 1 && std::memcmp(text.data, literal, N - 1) == 0;
}

// Whether a byte ends a plain stretch of a string: a quote, a backslash, or a control character.
inline bool stops(char byte) { return byte == '"' || byte == '\\' || static_cast<unsigned char>(byte) < 0x20; }

// A block of bytes as two masks: those that end a plain stretch, and those beyond ASCII.
#if defined(LEDGERFRAMES_SSE2)
struct Block {
    static constexpr int kBytes = 16, kBitsPerByte = 1;
    uint64_t stopping, beyond_ascii;

    explicit Block(const char* at) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
        const __m128i any = _mm_or_si128(_mm_or_si128(quotes, backslashes), controls);
        stopping = static_cast<uint64_t>(_mm_movemask_epi8(any));
        beyond_ascii = static_cast<uint64_t>(_mm_movemask_epi8(bytes));
    }
};
#elif defined(LEDGERFRAMES_NEON)
struct Block {
    static constexpr int kBytes = 16, kBitsPerByte = 4;
    uint64_t stopping, beyond_ascii;

    explicit Block(const char* at) {
        const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const uint8_t*>(at));
        const uint8x16_t quotes = vceqq_u8(bytes, vdupq_n_u8('"'));
        const uint8x16_t backslashes = vceqq_u8(bytes, vdupq_n_u8('\\'));
        const uint8x16_t controls = vcltq_u8(bytes, vdupq_n_u8(0x20));
        stopping = mask(vorrq_u8(vorrq_u8(quotes, backslashes), controls));
        beyond_ascii = mask(vcgeq_u8(bytes, vdupq_n_u8(0x80)));
    }

    // NEON has no instruction for a mask; narrowing by four bits leaves four bits per byte.
    static uint64_t mask(uint8x16_t bytes) {
        return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);
    }
};
#endif

// The first byte at or after `at` that ends a plain stretch, or `end`; notes whether bytes before it are beyond ASCII.
inline const char* plain_until(const char* at, const char* end, bool& beyond_ascii) {
#if defined(LEDGERFRAMES_SSE2) || defined(LEDGERFRAMES_NEON)
    for (; end - at >= Block::kBytes; at += Block::kBytes) {
        const Block block(at);
        if (block.stopping == 0) {
            beyond_ascii |= block.beyond_ascii != 0;
            continue;
        }
        const uint64_t before = (block.stopping & (0 - block.stopping)) - 1;
        beyond_ascii |= (block.beyond_ascii & before) != 0;
#if defined(_MSC_VER) && !defined(__clang__)
        unsigned long bit;
        _BitScanForward64(&bit, block.stopping);
        return at + bit / Block::kBitsPerByte;
#else
        return at + __builtin_ctzll(block.stopping) / Block::kBitsPerByte;
#endif
    }
#endif
    for (; at < end && !stops(*at); ++at) beyond_ascii |= static_cast<unsigned char>(*at) >= 0x80;
    return at;
}

// The value of four hexadecimal digits, or -1; a zero byte ends the text, so nothing beyond it is read.
inline int32_t hexadecimal(const char* at) {
    int32_t value = 0;
    for (int digit = 0; digit < 4; ++digit) {
        const char byte = at[digit];
        if (byte >= '0' && byte <= '9') value = value * 16 + (byte - '0');
        else if (byte >= 'a' && byte <= 'f') value = value * 16 + (byte - 'a' + 10);
        else if (byte >= 'A' && byte <= 'F') value = value * 16 + (byte - 'A' + 10);
        else return -1;
    }
    return value;
}

// Moves `at` from a backslash behind its escape; gives the code point, or -1 if the Python path refuses the escape.
inline int32_t read_escape(const char*& at) {
    const char kind = at[1];
    at += kind == '\0' ? 1 : 2;
    switch (kind) {
        case '"': case '\\': case '/': return kind;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'u': break;
        default: return -1;
    }
    const int32_t unit = hexadecimal(at);
    if (unit < 0) return -1;
    at += 4;
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    // A surrogate counts as the first of a pair only.
    if (unit > 0xDBFF || at[0] != '\\' || at[1] != 'u') return -1;
    const int32_t second = hexadecimal(at + 2);
    if (second < 0xDC00 || second > 0xDFFF) return -1;
    at += 6;
    return 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
}

inline void append_utf8(std::string& text, int32_t code) {
    const auto add = [&text](int32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (code < 0x80) return add(code);
    if (code < 0x800) add(0xC0 | code >> 6);
    else {
        if (code < 0x10000) add(0xE0 | code >> 12);
        else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
        }
        add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
}

// Whether bytes are UTF-8 as Python reads it: no overlong form, no surrogate, nothing above U+10FFFF.
inline bool is_utf8(const char* begin, const char* end) {
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    const auto* stop = reinterpret_cast<const unsigned char*>(end);
    while (at < stop) {
        uint64_t eight = 0;
        if (stop - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080) == 0)) {
            at += 8;
            continue;
        }
        const unsigned lead = *at++;
        if (lead < 0x80) continue;
        const int more = lead >= 0xC2 && lead <= 0xDF ? 1 : (lead & 0xF0) == 0xE0 ? 2 : lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
        if (more == 0 || stop - at < more) return false;
        const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (*at < lowest || *at > highest) return false;
        for (int next = 1; next < more; ++next)
            if ((at[next] & 0xC0) != 0x80) return false;
        at += more;
    }
    return true;
}

}  // namespace ledgerframes
