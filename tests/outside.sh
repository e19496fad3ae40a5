#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Modules and drivers built outside the tree against an installed copy: one that runs, and what is
# said of each that cannot be loaded.

. tests/lib/script.sh

case $VARIANT in
asan) sanitizers="-fsanitize=address,undefined" ;;
tsan) sanitizers="-fsanitize=thread" ;;
*) sanitizers= ;;
esac
prefix=$tmp/usr
run_ok "make install" env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory CC="$CC" \
	VARIANT="$VARIANT" PREFIX="$prefix" install || exit 1
sluice=$prefix/bin/sluice
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cd "$tmp" || exit 1

# build NAME FLAG...: NAME.c to NAME.so with nothing but what pkg-config says.
build() {
	local name=$1
	shift
	# shellcheck disable=SC2046
	$CC -std=gnu2x -O1 -fPIC -shared $sanitizers "$@" $(pkg-config --cflags sluice) \
		-o "$name.so" "$name.c" $(pkg-config --libs sluice)
}

# graph NAME: NAME.yaml, which loads ./NAME.so and uses the module Countdown.
graph() {
	cat >"$1.yaml" <<-END
		modules: [./$1.so]
		nodes:
		  s: {Source: {count: 100}}
		  c: {Countdown: {from: 30}}
		graph: [s -> c -> Sink]
	END
}

# refused NAME LINE...: check of NAME.yaml ends with code 2 and says just these lines.
refused() {
	local name=$1
	shift
	"$sluice" check "$name.yaml" >"$tmp/out" 2>&1
	expect "$name: exit code" 2 $?
	expect "$name: message" "$(printf '%s\n' "$@")" "$(cat "$tmp/out")"
}

# The module, in parts that the wrong ones change.
cat >countdown.h <<'END'
#include "module.h"

#ifndef NAME
#define NAME "Countdown"
#endif

struct countdown_params {
	uint32_t from;
};

struct countdown {
	uint32_t left;
};

static const struct param countdown_params[] = {
	PARAM(countdown_params, from, .def = "10", .help = "packets that pass"),
	PARAM_END,
};

enum { COUNTDOWN_OVER = REASON_OWN };
static const char *const countdown_drops[] = {"over", NULL};
static const char *const countdown_drops_help[] = {"enough have passed"};

static int countdown_open(struct node *node, struct errors *errors)
{
	const struct countdown_params *params = node->params;
	struct countdown *state = node->state;

	if (!params->from) {
		error_input(errors, "from", "0 lets nothing pass");
		return -1;
	}
	state->left = params->from;
	return 0;
}

static void countdown_process(struct ctx *ctx, struct batch *in)
{
	struct countdown *state = ctx->state;
	gate_t gates[BATCH_MAX];

	for (uint32_t i = 0; i < in->n; i++)
		gates[i] = state->left ? (state->left--, 0) : DROP(COUNTDOWN_OVER);
	emit_each(ctx, in, gates);
}

static const struct module_type countdown = {
	.name = NAME,
	.help = "lets so many packets pass",
	.igates = 1,
	.ogates = 1,
	.params = countdown_params,
	.drops = countdown_drops,
	.drops_help = countdown_drops_help,
	.state_size = sizeof(struct countdown),
	.open = countdown_open,
	.process = countdown_process,
};
END

printf '#include "countdown.h"\nMODULE(countdown)\n' >good.c
graph good
run_ok "a module builds from the installed headers alone" build good || exit 1
run_ok "it is checked" "$sluice" check good.yaml
run_ok "it runs" "$sluice" run --json good.yaml
expect "it has done its work" "30 70" "$(sed -nE \
	's/.*"c":\{[^}]*"out":\[([0-9]+)\].*"over":([0-9]+).*/\1 \2/p' out | tail -n 1)"
cat >twice.yaml <<-END
	modules: [./good.so, ./good.so, ../${tmp##*/}/good.so]
	nodes: {s: {Source: {count: 1}}, c: Countdown}
	graph: [s -> c]
END
run_ok "naming it again is no trouble" "$sluice" check twice.yaml
cat >open.yaml <<-END
	modules: [./good.so]
	nodes:
	  s: Source
	  c: {Countdown: {from: 0}}
	graph: [s -> c]
END
"$sluice" run open.yaml >out 2>&1
expect "its own errors: exit code" 2 $?
expect "its own errors: message" "open.yaml:4:25: error: Countdown: from: 0 lets nothing pass" \
	"$(cat out)"

# What is no module, or none that this program can take.
# entry NAME FIELD: as good.c, with a field of what the loader compares that differs.
entry() {
	cat >"$1.c" <<-END
		#include "countdown.h"
		static struct module_entry entry = {
			.abi = ABI_HERE(sizeof(struct module_type), sizeof(struct ctx), BATCH_MAX),
			.type = &countdown,
		};
		__attribute__((constructor)) static void enter(void)
		{
			entry.abi.$2;
			module_register(&entry);
		}
	END
	graph "$1"
	build "$1" || not_ok "$1 builds" "it does not"
}
where() {
	echo "$1.yaml:1:11: error:"
}
also="4:7: error: no module \"Countdown\" (\`sluice modules\` lists them)"

graph missing
refused missing "$(where missing) cannot load the module ./missing.so: cannot open shared object \
file: No such file or directory" "missing.yaml:$also"

echo "no program" >text.so
graph text
refused text "$(where text) cannot load the module ./text.so: file too short" "text.yaml:$also"

echo 'int nothing_to_see;' >empty.c
build empty
graph empty
refused empty "$(where empty) ./empty.so registers no module, it should use MODULE() or DRIVER()" \
	"empty.yaml:$also"

printf '#include "countdown.h"\nMODULE(countdown)\nvoid not_there(void);\n%s\n' \
	'__attribute__((constructor)) static void call(void) { not_there(); }' >symbol.c
build symbol
graph symbol
refused symbol "$(where symbol) cannot load the module ./symbol.so: undefined symbol: not_there" \
	"symbol.yaml:$also"

entry magic 'magic = 7'
refused magic "$(where magic) ./magic.so: what it registers is no Sluice module" "magic.yaml:$also"
entry version 'version = 99'
ours=$(sed -n 's/#define ABI_VERSION \([0-9]*\)u/\1/p' "$prefix/include/sluice/abi.h")
refused version "$(where version) ./version.so was built for version 99 of the module interface, \
this program has version $ours; build it again with the headers of this program" \
	"version.yaml:$also"
entry dpdk 'dpdk = 21u << 24 | 11u << 16'
dpdk=$(pkg-config --modversion libdpdk | cut -d. -f1,2)
refused dpdk "$(where dpdk) ./dpdk.so was built with DPDK 21.11, this program with $dpdk; build it \
with the same" "dpdk.yaml:$also"
entry size 'type_size = 8, entry.abi.batch_max = 32'
"$sluice" check size.yaml >out 2>&1
expect "size: exit code" 2 $?
expect "size: message" 1 "$(grep -cE "^size.yaml:1:11: error: ./size.so was built with other \
headers: its structs have 8, [0-9]+, [0-9]+ bytes and batches of 32, this program's [0-9]+, [0-9]+, \
[0-9]+ and 64; build it again$" out)"

printf '#define NAME "Source"\n#include "countdown.h"\nMODULE(countdown)\n' >taken.c
build taken
graph taken
refused taken "$(where taken) ./taken.so: the name Source is taken by another module" \
	"taken.yaml:$also"

printf '#include "countdown.h"\nMODULE(countdown)\n%s\n%s\n' \
	'static const struct module_type copy = {.name = NAME, .help = "again", .igates = 1,' \
	'.process = countdown_process}; MODULE(copy)' >double.c
build double
graph double
refused double "$(where double) ./double.so: the name Countdown is taken by another module" \
	"double.yaml:$also"

# table NAME FIELDS MESSAGE: a table with these fields is refused with the message.
table() {
	printf '#include "module.h"\n%s\n%s\n' "$4" \
		"static const struct module_type odd = {$2}; MODULE(odd)" >"$1.c"
	build "$1" || not_ok "$1 builds" "it does not"
	graph "$1"
	refused "$1" "$(where "$1") ./$1.so: the table of module $3" "$1.yaml:$also"
}
process='static void process(struct ctx *ctx, struct batch *in) { drop(ctx, in, 0); }'
table nameless '.help = "x", .igates = 1, .process = process' '? is wrong: it has no name' "$process"
table helpless '.name = "Odd", .igates = 1, .process = process' 'Odd is wrong: it has no help' \
	"$process"
table gates '.name = "Odd", .help = "x", .igates = 65, .process = process' \
	'Odd is wrong: it has more than 64 gates' "$process"
table idle '.name = "Odd", .help = "x", .igates = 1' \
	'Odd is wrong: it has input gates, but no process()' ''
table dead '.name = "Odd", .help = "x"' \
	'Odd is wrong: it has neither input gates nor poll()' ''
table drops '.name = "Odd", .help = "x", .igates = 1, .process = process, .drops = names' \
	'Odd is wrong: it has more than 58 drop reasons' \
	"$process static const char *const names[60] = {[0 ... 58] = \"x\"};"
table counters '.name = "Odd", .help = "x", .igates = 1, .process = process, .counters = rows' \
	'Odd is wrong: it has more than 32 counters' \
	"$process static const struct counter rows[34] = {[0 ... 32] = {\"x\", \"x\"}};"

cat >driver.c <<'END'
#include "driver.h"
static const struct driver_type odd = {.name = "odd", .help = "x"};
DRIVER(odd)
END
build driver
graph driver
refused driver "$(where driver) ./driver.so: a driver's table lacks a name, help, caps() or open()" \
	"driver.yaml:$also"
exit $script_failed
