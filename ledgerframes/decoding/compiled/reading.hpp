// Reads a page of POST /v2/updates into `Page`, item by item.
//
// It takes what `structs.py` and `lenient.py` take, and notes in `extra` what they note; they are the definition. A page
// with anything else in it is left to them.
#pragma once

#include "extra.hpp"
#include "page.hpp"
#include "scanner.hpp"
#include "times.hpp"
#include "tree.hpp"

namespace ledgerframes {

// The members of an object that were met, as bits.
class Seen {
public:
    // Python keeps the last of two members with one name; such a page is left to it.
    bool once(unsigned member) {
        if (bits_ & member) throw Irregular{};
        bits_ |= member;
        return true;
    }
    bool all(unsigned members) const { return (bits_ & members) == members; }
    bool any(unsigned members) const { return bits_ & members; }

private:
    unsigned bits_ = 0;
};

class Reader {
public:
    Reader(const char* begin, const char* end, Page& page) : scan_(begin, end, page.arena), page_(page), forest_(page) {}

    // Reads all of the page; throws Irregular if it has to be left to the Python path.
    void read() {
        bool seen = false;
        scan_.next();
        scan_.object([&](Text name) {
            if (!is(name, "transactions")) {
                scan_.value();
                return;
            }
            // Python takes the last of several members with this name.
            if (seen || scan_.beyond_ascii()) throw Irregular{};
            seen = true;
            scan_.list([this] { read_item(); });
        });
        scan_.next();
        if (!seen || !scan_.at_end() || scan_.beyond_ascii()) throw Irregular{};
    }

private:
    void read_item() {
        const char* begin = scan_.at();
        Item item;
        item_members(item);
        if (scan_.beyond_ascii() && !is_utf8(begin, scan_.at())) throw Irregular{};
        scan_.forget();
        page_.items.push_back(item);
    }

    void item_members(Item& item) {
        enum : unsigned {
            kId = 1, kRecordTime = 2, kMigration = 4, kWorkflow = 8, kSynchronizer = 16, kEffective = 32, kRoots = 64,
            kEvents = 128, kHash = 256, kOffset = 512, kLeg = 1024,
            kBoth = kId | kRecordTime,
            kTransaction = kMigration | kWorkflow | kSynchronizer | kEffective | kRoots | kEvents,
        };
        Seen seen;
        Unknown unknown;
        Text record_time, effective_at, offset, hash;  // as sent, where that has to be noted
        scan_.object([&](Text name) {
            const auto is = [&](const auto& known, unsigned member) {
                return ledgerframes::is(name, known) && seen.once(member);
            };
            if (is("update_id", kId)) item.update_id = scan_.string();
            else if (is("migration_id", kMigration)) item.migration_id = scan_.integer();
            else if (is("workflow_id", kWorkflow)) item.workflow_id = scan_.string();
            else if (is("record_time", kRecordTime)) {
                const Text text = scan_.plain_string();
                item.micros = micros(text, &Time::six_digits, record_time);
                item.month = {text.data, text.data + 7};
            } else if (is("synchronizer_id", kSynchronizer)) item.synchronizer_id = scan_.string();
            else if (is("effective_at", kEffective))
                item.effective_at = micros(scan_.plain_string(), &Time::six_digits, effective_at);
            else if (is("root_event_ids", kRoots)) item.roots = strings();
            else if (is("events_by_id", kEvents)) events(item);
            else if (is("external_transaction_hash", kHash)) item.hash = optional(hash);
            else if (is("offset", kOffset)) item.offset = optional(offset);
            else if (is("event", kLeg)) item.leg = leg();
            else unknown.add(name, scan_.value());
        });
        // Rows are told apart by this id alone.
        if (!seen.all(kBoth) || item.update_id.size == 0) throw Irregular{};
        if (item.is_transaction()) {
            if (!seen.all(kTransaction)) throw Irregular{};
            forest_.grow(item);
        } else {
            if (seen.any(kTransaction | kHash)) throw Irregular{};
            const Leg& leg = page_.legs[item.leg];
            item.migration_id = leg.migration_id;
            // An unassignment is recorded on the synchronizer it leaves, an assignment on the one it reaches.
            item.synchronizer_id = leg.assignment ? leg.target : leg.source;
        }
        Extra extra;
        extra.note("", "record_time", record_time);
        extra.note("", "effective_at", effective_at);
        extra.note("", "offset", offset);
        extra.note("", "external_transaction_hash", hash);
        extra.note("", unknown);
        item.extra = extra.text({}, page_.arena);
    }

    void events(Item& item) {
        item.first_event = static_cast<uint32_t>(page_.events.size());
        scan_.object([&](Text id) {
            Event& event = page_.events.emplace_back();
            Extra extra;
            const Text absent = event_members(event, "", extra);
            event.extra = extra.text(absent, page_.arena);
            if (event.id != id) throw Irregular{};
            ++item.event_count;
        });
    }

    // Reads an event; what has to be noted goes into `extra`. Gives the pointer of a member that was not sent.
    Text event_members(Event& event, Text prefix, Extra& extra) {
        enum : unsigned {
            kType = 1, kId = 2, kContract = 4, kTemplate = 8, kPackage = 16,
            kArguments = 32, kCreatedAt = 64, kSignatories = 128, kObservers = 256,
            kChoice = 512, kArgument = 1024, kChildren = 2048, kResult = 4096, kConsuming = 8192, kActing = 16384,
            kInterface = 32768,
            kBoth = kType | kId | kContract | kTemplate | kPackage,
            kCreated = kArguments | kCreatedAt | kSignatories | kObservers,
            kExercised = kChoice | kArgument | kChildren | kResult | kConsuming | kActing,
        };
        Seen seen;
        Unknown unknown;
        Text created_at;  // as sent, where that has to be noted
        scan_.object([&](Text name) {
            const auto is = [&](const auto& known, unsigned member) {
                return ledgerframes::is(name, known) && seen.once(member);
            };
            if (is("event_type", kType)) event.created = kind_is_created();
            else if (is("event_id", kId)) event.id = scan_.string();
            else if (is("contract_id", kContract)) event.contract_id = scan_.string();
            else if (is("template_id", kTemplate)) event.template_id = scan_.string();
            else if (is("package_name", kPackage)) event.package_name = scan_.string();
            else if (is("create_arguments", kArguments)) event.payload = scan_.value();
            else if (is("created_at", kCreatedAt))
                event.created_at = micros(scan_.plain_string(), &Time::trimmed, created_at);
            else if (is("signatories", kSignatories)) event.signatories = strings();
            else if (is("observers", kObservers)) event.observers = strings();
            else if (is("choice", kChoice)) event.choice = scan_.string();
            else if (is("choice_argument", kArgument)) event.payload = scan_.value();
            else if (is("child_event_ids", kChildren)) event.children = strings();
            else if (is("exercise_result", kResult)) event.result = scan_.value();
            else if (is("consuming", kConsuming)) event.consuming = scan_.boolean();
            else if (is("acting_parties", kActing)) event.acting_parties = strings();
            else if (is("interface_id", kInterface)) {
                if (!scan_.null()) event.interface_id = scan_.string();
            } else unknown.add(name, scan_.value());
        });
        const unsigned needed = event.created ? kCreated : kExercised;
        const unsigned other = event.created ? kExercised | kInterface : kCreated;
        if (!seen.all(kBoth | needed) || seen.any(other)) throw Irregular{};
        extra.note(prefix, "created_at", created_at);
        extra.note(prefix, unknown);
        return event.created || seen.any(kInterface) ? Text() : Text("/interface_id");
    }

    bool kind_is_created() {
        const Text kind = scan_.string();
        if (is(kind, "created_event")) return true;
        if (is(kind, "exercised_event")) return false;
        throw Irregular{};
    }

    // Reads the one event of a reassignment; gives its position.
    uint32_t leg() {
        enum : unsigned {
            kSubmitter = 1, kSource = 2, kTarget = 4, kMigration = 8, kCounter = 16, kUnassign = 32, kContract = 64,
            kCreated = 128,
            kRequired = kSubmitter | kSource | kTarget | kMigration | kCounter,
        };
        Seen seen;
        Unknown unknown;
        Extra extra, of_contract;
        Text unassign_id;  // as sent, where that has to be noted
        Leg& leg = page_.legs.emplace_back();
        scan_.object([&](Text name) {
            const auto is = [&](const auto& known, unsigned member) {
                return ledgerframes::is(name, known) && seen.once(member);
            };
            if (is("submitter", kSubmitter)) leg.submitter = scan_.string();
            else if (is("source_synchronizer", kSource)) leg.source = scan_.string();
            else if (is("target_synchronizer", kTarget)) leg.target = scan_.string();
            else if (is("migration_id", kMigration)) leg.migration_id = scan_.integer();
            else if (is("reassignment_counter", kCounter)) leg.counter = scan_.integer();
            else if (is("unassign_id", kUnassign)) leg.unassign_id = optional(unassign_id);
            else if (is("contract_id", kContract)) leg.contract_id = scan_.string();
            else if (is("created_event", kCreated)) event_members(leg.contract, "/created_event", of_contract);
            else unknown.add(name, scan_.value());
        });
        leg.assignment = seen.any(kCreated);
        // An assignment has the contract, an unassignment its id alone.
        if (!seen.all(kRequired) || leg.assignment == seen.any(kContract)) throw Irregular{};
        if (leg.assignment) {
            if (!leg.contract.created) throw Irregular{};
            leg.contract_id = leg.contract.contract_id;
        }
        extra.note("", "unassign_id", unassign_id);
        extra.note("", unknown);
        extra.append(of_contract);
        leg.extra = extra.text({}, page_.arena);
        return static_cast<uint32_t>(page_.legs.size() - 1);
    }

    List strings() {
        List list{static_cast<uint32_t>(page_.texts.size()), 0, true};
        scan_.list([&] {
            page_.texts.push_back(scan_.string());
            ++list.size;
        });
        return list;
    }

    // A text, or null, which is then noted: where a member is optional, servers leave it out.
    Text optional(Text& noted) {
        if (!scan_.null()) return scan_.string();
        noted = "null";
        return {};
    }

    // A time; the text as sent is noted if its spelling is not canonical.
    static int64_t micros(Text text, bool Time::*canonical, Text& noted) {
        const Time time = read_time(text);
        if (!(time.*canonical)) noted = {text.data - 1, text.end() + 1};
        return time.micros;
    }

    Scanner scan_;
    Page& page_;
    Forest forest_;
};

// Reads a page; `end` must be a zero byte.
inline void read_page(const char* begin, const char* end, Page& page) {
    const auto size = static_cast<size_t>(end - begin);
    // Arrow's texts have offsets of 31 bits.
    if (size >= size_t{1} << 31) throw Irregular{};
    page.texts.reserve(size / 512);
    page.events.reserve(size / 2048);
    page.nodes.reserve(size / 2048);
    Reader(begin, end, page).read();
}

}  // namespace ledgerframes
