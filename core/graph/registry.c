// SPDX-License-Identifier: BSD-3-Clause
// The types of modules and drivers that this process knows: those linked in, and those loaded.

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

// Constructors only append here; what is appended is looked at by registry_adopt().
static struct module_entry *new_modules;
static struct driver_entry *new_drivers;

static const struct module_type **modules;
static unsigned n_modules;
static const struct driver_type **drivers;
static unsigned n_drivers;

static void **handles; // of the shared objects loaded
static unsigned n_handles;

void module_register(struct module_entry *entry)
{
	entry->next = new_modules;
	new_modules = entry;
}

void driver_register(struct driver_entry *entry)
{
	entry->next = new_drivers;
	new_drivers = entry;
}

static int module_compare(const void *a, const void *b)
{
	return strcmp((*(const struct module_type *const *)a)->name,
		      (*(const struct module_type *const *)b)->name);
}

static int driver_compare(const void *a, const void *b)
{
	return strcmp((*(const struct driver_type *const *)a)->name,
		      (*(const struct driver_type *const *)b)->name);
}

static void module_add(const struct module_type *type)
{
	modules = memory_grow(modules, n_modules + 1, sizeof(*modules));
	modules[n_modules++] = type;
	qsort(modules, n_modules, sizeof(*modules), module_compare);
}

static void driver_add(const struct driver_type *type)
{
	drivers = memory_grow(drivers, n_drivers + 1, sizeof(*drivers));
	drivers[n_drivers++] = type;
	qsort(drivers, n_drivers, sizeof(*drivers), driver_compare);
}

// The types that are linked in need no check.
static void registry_adopt(void)
{
	for (struct module_entry *entry = new_modules; entry; entry = entry->next)
		module_add(entry->type);
	for (struct driver_entry *entry = new_drivers; entry; entry = entry->next)
		driver_add(entry->type);
	new_modules = NULL;
	new_drivers = NULL;
}

unsigned module_list(const struct module_type ***list)
{
	registry_adopt();
	*list = modules;
	return n_modules;
}

unsigned driver_list(const struct driver_type ***list)
{
	registry_adopt();
	*list = drivers;
	return n_drivers;
}

// What is being loaded is in neither list yet, until it has been checked.
static const struct module_type *module_adopted(const char *name)
{
	for (unsigned i = 0; i < n_modules; i++)
		if (!strcmp(modules[i]->name, name))
			return modules[i];
	return NULL;
}

const struct module_type *module_find(const char *name)
{
	registry_adopt();
	return module_adopted(name);
}

static const struct driver_type *driver_adopted(const char *name)
{
	for (unsigned i = 0; i < n_drivers; i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	return NULL;
}

const struct driver_type *driver_find(const char *name)
{
	registry_adopt();
	return driver_adopted(name);
}

static int abi_check(const char *path, const struct abi *theirs, const struct abi *ours,
		     struct place place, struct errors *errors)
{
	static const char *const sanitizers[] = {"none", "address", "thread"};
	unsigned before = errors_count(errors);

	if (theirs->magic != ours->magic) {
		error_at(errors, place, "%s: what it registers is no Sluice module", path);
		return -1;
	}
	if (theirs->version != ours->version) {
		error_at(errors, place,
			 "%s was built for version %u of the module interface, this program has "
			 "version %u; build it again with the headers of this program",
			 path, theirs->version, ours->version);
		return -1;
	}
	if (theirs->dpdk != ours->dpdk)
		error_at(errors, place,
			 "%s was built with DPDK %u.%u, this program with %u.%u; build it with the "
			 "same",
			 path, theirs->dpdk >> 24, theirs->dpdk >> 16 & 0xff, ours->dpdk >> 24,
			 ours->dpdk >> 16 & 0xff);
	if (theirs->sanitizer != ours->sanitizer)
		error_at(errors, place, "%s was built with the sanitizer %s, this program with %s",
			 path, theirs->sanitizer < 3 ? sanitizers[theirs->sanitizer] : "?",
			 sanitizers[ours->sanitizer]);
	if (theirs->type_size != ours->type_size || theirs->ctx_size != ours->ctx_size ||
	    theirs->param_size != ours->param_size || theirs->batch_max != ours->batch_max)
		error_at(errors, place,
			 "%s was built with other headers: its structs have %u, %u, %u bytes and "
			 "batches of %u, this program's %u, %u, %u and %u; build it again",
			 path, theirs->type_size, theirs->ctx_size, theirs->param_size,
			 theirs->batch_max, ours->type_size, ours->ctx_size, ours->param_size,
			 ours->batch_max);
	return errors_count(errors) == before ? 0 : -1;
}

#define DROPS_MAX 58 // beside the core's own reasons, see struct node_counts
#define COUNTERS_MAX 32

static unsigned drops_count(const struct module_type *type)
{
	unsigned n = 0;

	while (type->drops && n <= DROPS_MAX && type->drops[n])
		n++;
	return n;
}

static unsigned counters_count(const struct module_type *type)
{
	unsigned n = 0;

	while (type->counters && n <= COUNTERS_MAX && type->counters[n].name)
		n++;
	return n;
}

static bool gates_bad(gate_t gates)
{
	return gates != GATES_ANY && gates > GATES_MAX;
}

// What is wrong with the table of a module, or NULL.
static const char *module_fault(const struct module_type *type)
{
	if (!type || !type->name || !type->name[0])
		return "it has no name";
	if (!type->help)
		return "it has no help";
	if (gates_bad(type->igates) || gates_bad(type->ogates))
		return "it has more than 64 gates";
	if (drops_count(type) > DROPS_MAX)
		return "it has more than 58 drop reasons";
	if (counters_count(type) > COUNTERS_MAX)
		return "it has more than 32 counters";
	if (!type->process && type->igates)
		return "it has input gates, but no process()";
	if (!type->poll && !type->igates)
		return "it has neither input gates nor poll()";
	return NULL;
}

// Whether another entry of the same object has the name; they are in a list from the last one on.
static bool module_doubled(const struct module_entry *entry)
{
	for (const struct module_entry *other = entry->next; other; other = other->next)
		if (!memcmp(&other->abi, &entry->abi, sizeof(entry->abi)) && other->type &&
		    other->type->name && !strcmp(other->type->name, entry->type->name))
			return true;
	return false;
}

static int module_accept(const char *path, const struct module_entry *entry, struct place place,
			 struct errors *errors)
{
	static const struct abi ours =
	    ABI_HERE(sizeof(struct module_type), sizeof(struct ctx), BATCH_MAX);
	const char *fault;

	if (abi_check(path, &entry->abi, &ours, place, errors))
		return -1;
	fault = module_fault(entry->type);
	if (fault) {
		error_at(errors, place, "%s: the table of module %s is wrong: %s", path,
			 entry->type && entry->type->name ? entry->type->name : "?", fault);
		return -1;
	}
	if (module_adopted(entry->type->name) || module_doubled(entry)) {
		error_at(errors, place, "%s: the name %s is taken by another module", path,
			 entry->type->name);
		return -1;
	}
	return 0;
}

static int driver_accept(const char *path, const struct driver_entry *entry, struct place place,
			 struct errors *errors)
{
	static const struct abi ours = ABI_HERE(sizeof(struct driver_type), sizeof(struct port), 0);
	const struct driver_type *type;

	if (abi_check(path, &entry->abi, &ours, place, errors))
		return -1;
	type = entry->type;
	if (!type || !type->name || !type->help || !type->open || !type->caps) {
		error_at(errors, place, "%s: a driver's table lacks a name, help, caps() or open()",
			 path);
		return -1;
	}
	if (driver_adopted(type->name)) {
		error_at(errors, place, "%s: the name %s is taken by another driver", path,
			 type->name);
		return -1;
	}
	return 0;
}

static bool handle_known(void *handle)
{
	for (unsigned i = 0; i < n_handles; i++)
		if (handles[i] == handle)
			return true;
	return false;
}

// The loader reports "PATH: undefined symbol: NAME" and the like, mostly with the path in front.
static void load_failed(const char *path, const char *reason, struct place place,
			struct errors *errors)
{
	size_t n = strlen(path);

	if (!strncmp(reason, path, n) && reason[n] == ':')
		reason += n + 2;
	error_at(errors, place, "cannot load the module %s: %s", path, reason);
}

int module_load(const char *path, struct place place, struct errors *errors)
{
	void *handle;
	int status = 0;

	registry_adopt();
	// Without a slash the loader would search the system's folders.
	if (!strchr(path, '/')) {
		error_at(errors, place,
			 "the module \"%s\" has no folder, it should be a path like ./%s", path,
			 path);
		return -1;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		load_failed(path, dlerror(), place, errors);
		return -1;
	}
	if (handle_known(handle)) {
		dlclose(handle);
		return 0;
	}
	if (!new_modules && !new_drivers) {
		error_at(errors, place,
			 "%s registers no module, it should use MODULE() or DRIVER()", path);
		status = -1;
	}
	for (struct module_entry *entry = new_modules; entry; entry = entry->next)
		if (module_accept(path, entry, place, errors))
			status = -1;
	for (struct driver_entry *entry = new_drivers; entry; entry = entry->next)
		if (driver_accept(path, entry, place, errors))
			status = -1;
	if (status) {
		new_modules = NULL;
		new_drivers = NULL;
		dlclose(handle);
		return -1;
	}
	registry_adopt();
	handles = memory_grow(handles, n_handles + 1, sizeof(*handles));
	handles[n_handles++] = handle;
	return 0;
}
