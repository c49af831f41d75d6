// The three tables of the update history, with the columns that `tables/history.py` declares, in their order.
#pragma once

#include "arrow.hpp"
#include "page.hpp"

namespace ledgerframes {

// An item that rows are made of.
struct Chosen {
    const Page* page;
    const Item* item;

    const Leg& leg() const { return page->legs[item->leg]; }
    Texts texts(const List& list) const { return {page->texts.data() + list.first, list.size, list.given}; }
};

// In the order of their rows; of one page or of several.
using Rows = std::vector<Chosen>;

inline Text kind_of(const Chosen& row) {
    if (row.item->is_transaction()) return "transaction";
    return row.leg().assignment ? Text("assignment") : Text("unassignment");
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

inline Array updates(const Rows& rows) {
    Batch batch(rows.size());
    const auto item = [&](size_t row) -> const Item& { return *rows[row].item; };
    add_place(batch, item);
    batch.texts([&](size_t row) { return kind_of(rows[row]); });
    batch.texts([&](size_t row) { return item(row).synchronizer_id; });
    batch.numbers([&](size_t row) {
        return item(row).is_transaction() ? std::optional(item(row).effective_at) : std::nullopt;
    });
    // An empty workflow id means that none was set.
    batch.texts([&](size_t row) { return item(row).workflow_id.size > 0 ? item(row).workflow_id : Text(); });
    batch.lists([&](size_t row) { return rows[row].texts(item(row).roots); });
    // A reassignment has one event, which stands in a table of its own.
    batch.numbers([&](size_t row) { return item(row).is_transaction() ? int64_t{item(row).event_count} : 1; });
    batch.texts([&](size_t row) { return item(row).hash; });
    batch.texts([&](size_t row) { return item(row).offset; });
    batch.texts([&](size_t row) { return item(row).extra; });
    return batch.finish();
}

inline Array events(const Rows& rows) {
    struct Row {
        Chosen chosen;
        const Event* event;
        const Node* node;
    };
    std::vector<Row> all;
    for (const Chosen& chosen : rows) {
        const Page& page = *chosen.page;
        const Item& item = *chosen.item;
        for (uint32_t at = item.first_event; at < item.first_event + item.event_count; ++at)
            all.push_back({chosen, &page.events[page.nodes[at].event], &page.nodes[at]});
    }
    Batch batch(all.size());
    const auto item = [&](size_t row) -> const Item& { return *all[row].chosen.item; };
    const auto event = [&](size_t row) -> const Event& { return *all[row].event; };
    add_place(batch, item);
    batch.texts([&](size_t row) { return event(row).id; });
    batch.texts([&](size_t row) { return item(row).synchronizer_id; });
    batch.numbers([&](size_t row) {
        return int64_t{all[row].node - &all[row].chosen.page->nodes[item(row).first_event]};
    });
    batch.texts([&](size_t row) {
        const uint32_t parent = all[row].node->parent;
        return parent == Node::kNone ? Text() : all[row].chosen.page->events[parent].id;
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
    batch.lists([&](size_t row) { return all[row].chosen.texts(event(row).acting_parties); });
    batch.lists([&](size_t row) { return all[row].chosen.texts(event(row).children); });
    batch.lists([&](size_t row) { return all[row].chosen.texts(event(row).signatories); });
    batch.lists([&](size_t row) { return all[row].chosen.texts(event(row).observers); });
    batch.numbers([&](size_t row) {
        return event(row).created ? std::optional(event(row).created_at) : std::nullopt;
    });
    batch.texts([&](size_t row) { return event(row).payload; });
    batch.texts([&](size_t row) { return event(row).result; });
    batch.texts([&](size_t row) { return event(row).extra; });
    return batch.finish();
}

inline Array reassignments(const Rows& rows) {
    Rows own;
    for (const Chosen& row : rows)
        if (!row.item->is_transaction()) own.push_back(row);
    Batch batch(own.size());
    const auto leg = [&](size_t row) -> const Leg& { return own[row].leg(); };
    add_place(batch, [&](size_t row) -> const Item& { return *own[row].item; });
    batch.texts([&](size_t row) { return kind_of(own[row]); });
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
    batch.lists([&](size_t row) { return own[row].texts(leg(row).contract.signatories); });
    batch.lists([&](size_t row) { return own[row].texts(leg(row).contract.observers); });
    batch.texts([&](size_t row) { return leg(row).contract.payload; });
    batch.texts([&](size_t row) { return leg(row).extra; });
    return batch.finish();
}

}  // namespace ledgerframes
