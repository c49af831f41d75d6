// The text of the column `extra`: what was sent beyond or otherwise than the columns, as `lenient.Differences` writes it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "scanner.hpp"

namespace ledgerframes {

// The members of an object that no column holds, in the order in which they were sent.
class Unknown {
public:
    void add(Text name, Text value) {
        // Python keeps the last of two members with one name. More than a few are left to it, since each is compared.
        for (const Member& member : members_)
            if (member.name == name) throw Irregular{};
        if (members_.size() == kMost) throw Irregular{};
        members_.push_back({name, value});
    }
    const std::vector<Member>& members() const { return members_; }

private:
    static constexpr size_t kMost = 64;
    std::vector<Member> members_;
};

class Extra {
public:
    // Notes a value, if it is given, under the pointer of a member.
    void note(Text prefix, Text name, Text value) {
        if (!value.given()) return;
        values_ += values_.empty() ? "\"" : ",\"";
        values_ += prefix.view();
        values_ += '/';
        for (const char byte : name.view()) {
            if (byte == '~') values_ += "~0";
            else if (byte == '/') values_ += "~1";
            else values_ += byte;
        }
        values_ += "\":";
        values_ += value.view();
    }

    void note(Text prefix, const Unknown& unknown) {
        for (const Member& member : unknown.members()) note(prefix, member.name, member.value);
    }

    // Notes what another one holds, behind what this one holds.
    void append(const Extra& other) {
        if (!values_.empty() && !other.values_.empty()) values_ += ',';
        values_ += other.values_;
    }

    // The JSON; null if nothing was noted. `absent` is the pointer of a member that was not sent, or null.
    Text text(Text absent, std::deque<std::string>& arena) const {
        if (values_.empty() && !absent.given()) return {};
        std::string& text = arena.emplace_back("{" + values_);
        if (absent.given()) {
            text += values_.empty() ? "\"absent\":[\"" : ",\"absent\":[\"";
            text += absent.view();
            text += "\"]";
        }
        text += '}';
        return {text.data(), text.data() + text.size()};
    }

private:
    std::string values_;
};

}  // namespace ledgerframes
