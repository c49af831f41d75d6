// Times as integer microseconds since 1970 in UTC, and whether they are spelled as the contract's servers do.
#pragma once

#include "scanner.hpp"

namespace ledgerframes {

struct Time {
    int64_t micros = 0;
    bool six_digits = false;  // canonical for record_time and effective_at
    bool trimmed = false;     // canonical for created_at: a fraction of up to six digits that does not end with 0
};

// Days since 1970-01-01 of a date in the Gregorian calendar; March is made the first month, so leap days come last.
inline int64_t days_since_1970(int year, int month, int day) {
    const int shifted = month > 2 ? year : year - 1;
    const int era = shifted / 400, of_era = shifted % 400;
    const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return int64_t{era} * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// Reads `YYYY-MM-DDThh:mm:ss[.f]Z` with up to nine digits, rounded down; the Python path reads any other spelling.
inline Time read_time(Text text) {
    const char* at = text.data;
    const auto digits = [&at](int count) {
        int value = 0;
        for (; count > 0; --count, ++at) {
            if (*at < '0' || *at > '9') throw Irregular{};
            value = value * 10 + (*at - '0');
        }
        return value;
    };
    const auto sign = [&at](char byte) {
        if (*at++ != byte) throw Irregular{};
    };
    if (text.size < 20 || text.size > 30) throw Irregular{};
    const int year = digits(4), month = (sign('-'), digits(2)), day = (sign('-'), digits(2));
    const int hour = (sign('T'), digits(2)), minute = (sign(':'), digits(2)), second = (sign(':'), digits(2));
    const int count = static_cast<int>(text.size) - 21;  // of the fraction; -1 without one
    if (count == 0) throw Irregular{};
    int64_t nanos = 0;
    if (count > 0) {
        sign('.');
        nanos = digits(count);
        for (int missing = count; missing < 9; ++missing) nanos *= 10;
    }
    const char last = at[-1];
    sign('Z');

    static constexpr int kDays[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) throw Irregular{};
    if (day > kDays[month] + (month == 2 && leap ? 1 : 0)) throw Irregular{};
    const int64_t minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute;
    const bool trimmed = count < 0 || (count <= 6 && last != '0');
    return {(minutes * 60 + second) * 1'000'000 + nanos / 1000, count == 6, trimmed};
}

}  // namespace ledgerframes
