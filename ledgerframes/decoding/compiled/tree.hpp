// Orders a transaction's events by roots and child ids, as `tree.py` does.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "page.hpp"
#include "scanner.hpp"

namespace ledgerframes {

class Forest {
public:
    explicit Forest(Page& page) : page_(page) {}

    // Appends the item's nodes in preorder. Whatever `tree.py` refuses, and events that no root reaches, are irregular.
    void grow(const Item& item) {
        first_ = item.first_event;
        count_ = item.event_count;
        used_.assign(count_, false);
        check_names();
        guess_ = 0;
        above_.clear();
        Siblings siblings{item.roots, 0, Node::kNone, 0};
        for (;;) {
            if (siblings.done == siblings.ids.size) {
                if (above_.empty()) break;
                siblings = above_.back();
                above_.pop_back();
                continue;
            }
            const uint32_t event = take(page_.texts[siblings.ids.first + siblings.done++]);
            page_.nodes.push_back({event, siblings.parent, siblings.depth});
            if (const List children = page_.events[event].children; children.size > 0) {
                above_.push_back(siblings);
                siblings = {children, 0, event, siblings.depth + 1};
            }
        }
        if (page_.nodes.size() != size_t{first_} + count_) throw Irregular{};
    }

private:
    struct Siblings {
        List ids;
        uint32_t done, parent, depth;
    };

    Text id(uint32_t position) const { return page_.events[first_ + position].id; }

    // Makes `by_id_`, unless the events come in the order of their ids; an id that occurs twice is irregular.
    void check_names() {
        by_id_.clear();
        bool sorted = true;
        for (uint32_t next = 1; next < count_ && sorted; ++next) sorted = id(next - 1) < id(next);
        if (sorted) return;
        by_id_.resize(count_);
        std::iota(by_id_.begin(), by_id_.end(), 0);
        std::sort(by_id_.begin(), by_id_.end(), [this](uint32_t one, uint32_t other) { return id(one) < id(other); });
        for (uint32_t next = 1; next < count_; ++next)
            if (id(by_id_[next - 1]) == id(by_id_[next])) throw Irregular{};
    }

    // The position of an event that was not taken before.
    uint32_t take(Text wanted) {
        // Servers send small trees in preorder, so the event is mostly the next one.
        const uint32_t found = guess_ < count_ && id(guess_) == wanted ? guess_ : search(wanted);
        if (used_[found]) throw Irregular{};
        used_[found] = true;
        guess_ = found + 1;
        return first_ + found;
    }

    // Binary search rather than a hash table: no choice of ids makes it slow.
    uint32_t search(Text wanted) const {
        uint32_t low = 0, high = count_;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (id(sorted(middle)) < wanted) low = middle + 1;
            else high = middle;
        }
        if (low == count_ || id(sorted(low)) != wanted) throw Irregular{};
        return sorted(low);
    }

    uint32_t sorted(uint32_t place) const { return by_id_.empty() ? place : by_id_[place]; }

    Page& page_;
    uint32_t first_ = 0, count_ = 0, guess_ = 0;
    std::vector<uint32_t> by_id_;
    std::vector<bool> used_;
    std::vector<Siblings> above_;
};

}  // namespace ledgerframes
