// The three tables of the update history, with the columns that `tables/history.py` declares, in their order.
#pragma once

#include "arrow.hpp"
#include "page.hpp"

namespace ledgerframes {

// Positions in `Page::items`, in the order of their rows; none is irregular.
using Rows = std::vector<uint32_t>;

inline Text kind_of(const Page& page, const Item& item) {
    if (item.is_transaction()) return "transaction";
    return page.legs[item.leg].assignment ? Text("assignment") : Text("unassignment");
}

// What follows the package's hash or name, `Module:Entity`; all of the id where nothing does.
inline Text template_name(Text id) {
    const size_t colon = id.given() ? id.view().find(':') : std::string_view::npos;
    return colon == std::string_view::npos || colon + 1 == id.size ? id : Text(id.data + colon + 1, id.end());
}

// The columns that all three tables begin with; `get` gives the item of a row.
template <class Get>
void add_place(Batch& batch, Get get) {
    batch.numbers([&](size_t row) { return get(row).migration_id; });
    batch.numbers([&](size_t row) { return get(row).micros; });
    batch.texts([&](size_t row) { return get(row).month; });
    batch.texts([&](size_t row) { return get(row).update_id; });
}

inline Array updates(const Page& page, const Rows& rows) {
    Batch batch(rows.size());
    const auto item = [&](size_t row) -> const Item& { return page.items[rows[row]]; };
    add_place(batch, item);
    batch.texts([&](size_t row) { return kind_of(page, item(row)); });
    batch.texts([&](size_t row) { return item(row).synchronizer_id; });
    batch.numbers([&](size_t row) {
        return item(row).is_transaction() ? std::optional(item(row).effective_at) : std::nullopt;
    });
    // An empty workflow id means that none was set.
    batch.texts([&](size_t row) { return item(row).workflow_id.size > 0 ? item(row).workflow_id : Text(); });
    batch.lists(page.texts, [&](size_t row) { return item(row).roots; });
    // A reassignment has one event, which stands in a table of its own.
    batch.numbers([&](size_t row) { return item(row).is_transaction() ? int64_t{item(row).event_count} : 1; });
    batch.texts([&](size_t row) { return item(row).hash; });
    batch.texts([&](size_t row) { return item(row).offset; });
    batch.texts([&](size_t row) { return item(row).extra; });
    return batch.finish();
}

inline Array events(const Page& page, const Rows& rows) {
    struct Row {
        const Item* item;
        const Event* event;
        const Node* node;
    };
    std::vector<Row> all;
    for (const uint32_t row : rows) {
        const Item& item = page.items[row];
        for (uint32_t at = item.first_event; at < item.first_event + item.event_count; ++at)
            all.push_back({&item, &page.events[page.nodes[at].event], &page.nodes[at]});
    }
    Batch batch(all.size());
    const auto item = [&](size_t row) -> const Item& { return *all[row].item; };
    const auto event = [&](size_t row) -> const Event& { return *all[row].event; };
    add_place(batch, item);
    batch.texts([&](size_t row) { return event(row).id; });
    batch.texts([&](size_t row) { return item(row).synchronizer_id; });
    batch.numbers([&](size_t row) { return int64_t{all[row].node - &page.nodes[item(row).first_event]}; });
    batch.texts([&](size_t row) {
        const uint32_t parent = all[row].node->parent;
        return parent == Node::kNone ? Text() : page.events[parent].id;
    });
    batch.numbers([&](size_t row) { return int64_t{all[row].node->depth}; });
    batch.texts([&](size_t row) { return event(row).created ? Text("created_event") : Text("exercised_event"); });
    batch.texts([&](size_t row) { return event(row).contract_id; });
    batch.texts([&](size_t row) { return event(row).template_id; });
    batch.texts([&](size_t row) { return template_name(event(row).template_id); });
    batch.texts([&](size_t row) { return event(row).package_name; });
    batch.texts([&](size_t row) { return event(row).choice; });
    batch.booleans([&](size_t row) {
        return event(row).created ? std::nullopt : std::optional(event(row).consuming);
    });
    batch.texts([&](size_t row) { return event(row).interface_id; });
    batch.lists(page.texts, [&](size_t row) { return event(row).acting_parties; });
    batch.lists(page.texts, [&](size_t row) { return event(row).children; });
    batch.lists(page.texts, [&](size_t row) { return event(row).signatories; });
    batch.lists(page.texts, [&](size_t row) { return event(row).observers; });
    batch.numbers([&](size_t row) {
        return event(row).created ? std::optional(event(row).created_at) : std::nullopt;
    });
    batch.texts([&](size_t row) { return event(row).payload; });
    batch.texts([&](size_t row) { return event(row).result; });
    batch.texts([&](size_t row) { return event(row).extra; });
    return batch.finish();
}

inline Array reassignments(const Page& page, const Rows& rows) {
    Rows own;
    for (const uint32_t row : rows)
        if (!page.items[row].is_transaction()) own.push_back(row);
    Batch batch(own.size());
    const auto item = [&](size_t row) -> const Item& { return page.items[own[row]]; };
    const auto leg = [&](size_t row) -> const Leg& { return page.legs[item(row).leg]; };
    add_place(batch, item);
    batch.texts([&](size_t row) { return kind_of(page, item(row)); });
    batch.texts([&](size_t row) { return leg(row).submitter; });
    batch.texts([&](size_t row) { return leg(row).source; });
    batch.texts([&](size_t row) { return leg(row).target; });
    batch.texts([&](size_t row) { return leg(row).unassign_id; });
    batch.numbers([&](size_t row) { return leg(row).counter; });
    batch.texts([&](size_t row) { return leg(row).contract_id; });
    batch.texts([&](size_t row) { return leg(row).contract.id; });
    batch.texts([&](size_t row) { return leg(row).contract.template_id; });
    batch.texts([&](size_t row) { return template_name(leg(row).contract.template_id); });
    batch.texts([&](size_t row) { return leg(row).contract.package_name; });
    batch.numbers([&](size_t row) {
        return leg(row).assignment ? std::optional(leg(row).contract.created_at) : std::nullopt;
    });
    batch.lists(page.texts, [&](size_t row) { return leg(row).contract.signatories; });
    batch.lists(page.texts, [&](size_t row) { return leg(row).contract.observers; });
    batch.texts([&](size_t row) { return leg(row).contract.payload; });
    batch.texts([&](size_t row) { return leg(row).extra; });
    return batch.finish();
}

}  // namespace ledgerframes
