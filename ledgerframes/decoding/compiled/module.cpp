// The module `_decoder`: `read` takes a page apart, `places` gives what paging needs of it, `columns` the tables
// of one page or several; `members` splits objects.
//
// `_decoder.pyi` describes the functions. The interpreter's lock is released while a page is read and written.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>

#include "members.hpp"
#include "reading.hpp"
#include "tables.hpp"

#define LEDGERFRAMES_QUOTED(text) #text
#define LEDGERFRAMES_TEXT(text) LEDGERFRAMES_QUOTED(text)

namespace {

using namespace ledgerframes;

constexpr char kPageName[] = "ledgerframes.page";
constexpr char kArrayName[] = "arrow_array";  // as the Arrow PyCapsule interface demands

// A page and the bytes that its texts lie in.
struct HeldPage {
    PyObject* body;
    Page page;
};

struct DropReference {
    void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Object = std::unique_ptr<PyObject, DropReference>;

// Runs `work` without the interpreter's lock; gives whether it went through, or false with an error set.
enum class Result { kDone, kIrregular, kError };

template <class Work>
Result without_lock(Work work) {
    PyThreadState* state = PyEval_SaveThread();
    Result result = Result::kDone;
    try {
        work();
    } catch (Irregular) {
        result = Result::kIrregular;
    } catch (const std::exception&) {  // of memory: nothing else is thrown
        result = Result::kError;
    }
    PyEval_RestoreThread(state);
    if (result == Result::kError) PyErr_NoMemory();
    return result;
}

void drop_page(PyObject* capsule) {
    auto* held = static_cast<HeldPage*>(PyCapsule_GetPointer(capsule, kPageName));
    Py_DECREF(held->body);
    delete held;
}

void drop_array(PyObject* capsule) {
    Array(static_cast<ArrowArray*>(PyCapsule_GetPointer(capsule, kArrayName)));
}

// A pair: a capsule that holds the array, and the array's address; null with an error set.
PyObject* export_array(Array array) {
    const Object capsule(PyCapsule_New(array.get(), kArrayName, drop_array));
    if (capsule == nullptr) return nullptr;
    return Py_BuildValue("OK", capsule.get(), static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(array.release())));
}

PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject* read(PyObject*, PyObject* body) {
    char* begin;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(body, &begin, &size) < 0) return nullptr;
    auto* held = new (std::nothrow) HeldPage{body, {}};
    if (held == nullptr) return PyErr_NoMemory();
    const Result result = without_lock([&] { read_page(begin, begin + size, held->page); });
    PyObject* capsule = result == Result::kDone ? PyCapsule_New(held, kPageName, drop_page) : nullptr;
    if (capsule == nullptr) {
        delete held;
        return result == Result::kIrregular ? none() : nullptr;
    }
    Py_INCREF(body);
    return capsule;
}

// The value of each item, as a list; null with an error set.
template <class Make>
Object list_of(const std::vector<Item>& items, Make make) {
    Object list(PyList_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t at = 0; list != nullptr && at < items.size(); ++at) {
        PyObject* value = make(items[at]);
        if (value == nullptr) return nullptr;
        PyList_SetItem(list.get(), static_cast<Py_ssize_t>(at), value);
    }
    return list;
}

PyObject* places(PyObject*, PyObject* capsule) {
    const auto* held = static_cast<HeldPage*>(PyCapsule_GetPointer(capsule, kPageName));
    if (held == nullptr) return nullptr;
    const std::vector<Item>& items = held->page.items;
    const Object migration_ids = list_of(items, [](const Item& item) { return PyLong_FromLongLong(item.migration_id); });
    const Object micros = list_of(items, [](const Item& item) { return PyLong_FromLongLong(item.micros); });
    const Object update_ids = list_of(
        items, [](const Item& item) { return PyUnicode_DecodeUTF8(item.update_id.data, item.update_id.size, nullptr); });
    if (!migration_ids || !micros || !update_ids) return nullptr;
    return PyTuple_Pack(3, migration_ids.get(), micros.get(), update_ids.get());
}

// Adds the items at some positions of a page; false with an error set.
bool add_rows(PyObject* capsule, PyObject* list, Rows& rows) {
    const auto* held = static_cast<HeldPage*>(PyCapsule_GetPointer(capsule, kPageName));
    const Py_ssize_t count = held == nullptr ? -1 : PyList_Size(list);
    if (count < 0) return false;
    const std::vector<Item>& items = held->page.items;
    for (Py_ssize_t at = 0; at < count; ++at) {
        const Py_ssize_t row = PyLong_AsSsize_t(PyList_GetItem(list, at));
        if (row == -1 && PyErr_Occurred()) return false;
        if (row < 0 || static_cast<size_t>(row) >= items.size()) {
            PyErr_Format(PyExc_IndexError, "row %zd is not an item of the page", row);
            return false;
        }
        rows.push_back({&held->page, &items[static_cast<size_t>(row)]});
    }
    return true;
}

PyObject* columns(PyObject*, PyObject* arguments) {
    PyObject* pages;
    int wants_updates, wants_events, wants_reassignments;
    // The tuple holds the pages while the lock is released: a list could be emptied by another thread.
    if (!PyArg_ParseTuple(arguments, "O!ppp", &PyTuple_Type, &pages, &wants_updates, &wants_events,
                          &wants_reassignments))
        return nullptr;
    Rows rows;
    for (Py_ssize_t at = 0; at < PyTuple_Size(pages); ++at) {
        PyObject *capsule, *list;
        PyObject* pair = PyTuple_GetItem(pages, at);
        if (!PyTuple_Check(pair)) {
            PyErr_SetString(PyExc_TypeError, "a page is a tuple of what `read` gave and a list of rows");
            return nullptr;
        }
        if (!PyArg_ParseTuple(pair, "OO!", &capsule, &PyList_Type, &list)) return nullptr;
        if (!add_rows(capsule, list, rows)) return nullptr;
    }
    Array tables[3];
    const Result result = without_lock([&] {
        if (wants_updates) tables[0] = updates(rows);
        if (wants_events) tables[1] = events(rows);
        if (wants_reassignments) tables[2] = reassignments(rows);
    });
    if (result != Result::kDone) return result == Result::kIrregular ? none() : nullptr;
    Object exported[3];
    for (int at = 0; at < 3; ++at) {
        exported[at].reset(tables[at] ? export_array(std::move(tables[at])) : none());
        if (exported[at] == nullptr) return nullptr;
    }
    return PyTuple_Pack(3, exported[0].get(), exported[1].get(), exported[2].get());
}

// The names in a tuple; false with an error set.
bool names_of(PyObject* tuple, std::vector<std::string>& names) {
    for (Py_ssize_t at = 0; at < PyTuple_Size(tuple); ++at) {
        Py_ssize_t size;
        const char* name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, at), &size);
        if (name == nullptr) return false;
        names.emplace_back(name, static_cast<size_t>(size));
    }
    return true;
}

PyObject* members_(PyObject*, PyObject* arguments) {
    PyObject *capsule, *tuple;
    int closed;
    if (!PyArg_ParseTuple(arguments, "OO!p", &capsule, &PyTuple_Type, &tuple, &closed)) return nullptr;
    const auto* cells = static_cast<const ArrowArray*>(PyCapsule_GetPointer(capsule, kArrayName));
    std::vector<std::string> names;
    if (cells == nullptr || !names_of(tuple, names)) return nullptr;
    if (cells->n_buffers != 3 || cells->length == 0) {
        PyErr_SetString(PyExc_ValueError, "cells are texts, one at least");
        return nullptr;
    }
    Array columns;
    const Result result = without_lock([&] { columns = members(Cells(*cells), names, closed != 0); });
    if (result != Result::kDone) return result == Result::kIrregular ? none() : nullptr;
    return export_array(std::move(columns));
}

PyMethodDef kFunctions[] = {
    {"read", read, METH_O, "Take a page apart."},
    {"places", places, METH_O, "The cursors and ids of a page's items."},
    {"columns", columns, METH_VARARGS, "The tables of pages."},
    {"members", members_, METH_VARARGS, "The members of objects, a column per name."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "_decoder", "Decodes pages of the update history.", 0, kFunctions,
    nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__decoder() {
    PyObject* module = PyModule_Create(&kModule);
    if (module != nullptr && PyModule_AddStringConstant(module, "SOURCES", LEDGERFRAMES_TEXT(LEDGERFRAMES_SOURCES)) < 0) {
        Py_DECREF(module);
        return nullptr;
    }
    return module;
}
