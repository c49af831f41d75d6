// A page of the update history as it is read: its items, their events, and the legs of reassignments.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "text.hpp"

namespace ledgerframes {

// A list of texts: a part of `Page::texts`.
struct List {
    uint32_t first = 0, size = 0;
    bool given = false;
};

// The texts of a list, where they stand.
struct Texts {
    const Text* first;
    uint32_t size;
    bool given;
};

// A created or an exercised event; what its kind does not have stays null.
struct Event {
    Text id, contract_id, template_id, package_name, choice, interface_id, payload, result, extra;
    List acting_parties, children, signatories, observers;
    int64_t created_at = 0;
    bool created = false, consuming = false;
};

// One leg of a reassignment; an assignment has a created event.
struct Leg {
    Text submitter, source, target, unassign_id, contract_id, extra;
    int64_t migration_id = 0, counter = 0;
    bool assignment = false;
    Event contract;
};

// The place of an event in its transaction's tree.
struct Node {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t event, parent, depth;  // positions in `Page::events`; kNone for a root's parent
};

// A transaction, or a reassignment if it has a leg.
struct Item {
    static constexpr uint32_t kNone = UINT32_MAX;
    Text update_id, month, synchronizer_id, workflow_id, hash, offset, extra;
    int64_t migration_id = 0, micros = 0, effective_at = 0;
    List roots;
    uint32_t first_event = 0, event_count = 0;  // positions in `Page::events` and `Page::nodes`
    uint32_t leg = kNone;

    bool is_transaction() const { return leg == kNone; }
};

struct Page {
    std::vector<Item> items;
    std::vector<Event> events;  // in the order of `events_by_id`
    std::vector<Node> nodes;    // in preorder; an item's nodes have the same positions as its events
    std::vector<Leg> legs;
    std::vector<Text> texts;
    std::deque<std::string> arena;  // texts that do not stand in the page as they are
};

}  // namespace ledgerframes
