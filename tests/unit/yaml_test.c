// SPDX-License-Identifier: BSD-3-Clause
// Reading YAML: what is accepted, with places, and everything that is refused, with its message.

#include <stdbool.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "value/value.h"

struct read {
	struct arena *arena;
	struct errors *errors;
	struct value *tree;
	char *told;
};

static struct read read_bytes(const char *text, size_t length)
{
	struct read read = {.arena = arena_new(), .errors = errors_new()};

	read.tree = yaml_read_text(read.arena, "f", text, length, read.errors);
	read.told = errors_text(read.errors);
	return read;
}

static void read_end(struct read *read)
{
	free(read->told);
	errors_free(read->errors);
	arena_free(read->arena);
}

static void refuse_bytes(const char *text, size_t length, const char *want)
{
	struct read read = read_bytes(text, length);

	if (strcmp(read.told, want))
		printf("\ngot:  %swant: %s", read.told, want);
	CU_ASSERT_STRING_EQUAL(read.told, want);
	CU_ASSERT_PTR_NULL(read.tree);
	read_end(&read);
}

struct bad {
	const char *text;
	const char *fault; // without the file's name and "error: "; starts with the place
};

static void refuse_all(const struct bad *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *fault = strchr(bad[i].fault, ' ') + 1;
		struct arena *arena = arena_new();

		refuse_bytes(bad[i].text, strlen(bad[i].text),
			     arena_printf(arena, "f:%.*s error: %s\n",
					  (int)(fault - bad[i].fault - 1), bad[i].fault, fault));
		arena_free(arena);
	}
}

#define REFUSE(...)                                                                                \
	do {                                                                                       \
		static const struct bad bad[] = {__VA_ARGS__};                                     \
		refuse_all(bad, sizeof(bad) / sizeof(*bad));                                       \
	} while (0)

// The tree of a text that is accepted, as YAML.
static void accept_bytes(const char *text, size_t length, const char *want)
{
	struct read read = read_bytes(text, length);
	char *got = NULL;
	size_t n;
	FILE *to = open_memstream(&got, &n);

	CU_ASSERT_STRING_EQUAL(read.told, "");
	CU_ASSERT_PTR_NOT_NULL(read.tree);
	if (read.tree)
		value_write_yaml(read.tree, to);
	fclose(to);
	if (strcmp(got, want))
		printf("\ngot:  %swant: %s", got, want);
	CU_ASSERT_STRING_EQUAL(got, want);
	free(got);
	read_end(&read);
}

static void accept(const char *text, const char *want)
{
	accept_bytes(text, strlen(text), want);
}

static void expect_place(const struct value *tree, const char *path, unsigned line, unsigned col)
{
	const struct value *value = value_at(tree, path);

	CU_ASSERT_STRING_EQUAL(value->place.file, "f");
	CU_ASSERT_EQUAL(value->place.line, line);
	CU_ASSERT_EQUAL(value->place.col, col);
}

static void test_places(void)
{
	static const char text[] = "# a comment\n"
				   "a: 1\n"
				   "b:\n"
				   "  - x\n"
				   "  - {ä: 'y', z: [1, \"2\"]}\n"
				   "c:\n"
				   "d: |\n"
				   "  text\n";
	struct read read = read_bytes(text, strlen(text));

	expect_place(read.tree, "", 2, 1);
	expect_place(read.tree, "a", 2, 4);
	expect_place(read.tree, "b", 4, 3);
	expect_place(read.tree, "b[0]", 4, 5);
	expect_place(read.tree, "b[1].ä", 5, 9);
	expect_place(read.tree, "b[1].z[1]", 5, 21);
	expect_place(read.tree, "d", 7, 4);
	CU_ASSERT_EQUAL(value_member(read.tree, "c")->place.line, 6);
	CU_ASSERT_EQUAL(value_member(read.tree, "c")->place.col, 1);
	read_end(&read);
}

static void test_kinds(void)
{
	static const char text[] = "[1, '2', \"3\", ~, , null, !!str ~, '', '~', true]";
	static const char lines[] = "a:\nb: ~\nc: |\n  x\n  y\n";
	struct read read;

	refuse_bytes(text, strlen(text),
		     "f:1:18: error: nothing to read here, it should be a text, a list or a map\n");
	read = read_bytes("[1, '2', ~, null, !!str ~, '', '~', ! 5]", 40);
	CU_ASSERT_EQUAL(read.tree->n, 8);
	CU_ASSERT_FALSE(read.tree->items[0]->quoted);
	CU_ASSERT_TRUE(read.tree->items[1]->quoted);
	CU_ASSERT_EQUAL(read.tree->items[2]->kind, VALUE_NULL);
	CU_ASSERT_EQUAL(read.tree->items[3]->kind, VALUE_SCALAR); // a driver's name
	CU_ASSERT_FALSE(read.tree->items[3]->quoted);
	for (unsigned i = 4; i < 8; i++) {
		CU_ASSERT_EQUAL(read.tree->items[i]->kind, VALUE_SCALAR);
		CU_ASSERT_TRUE(read.tree->items[i]->quoted);
	}
	CU_ASSERT_STRING_EQUAL(read.tree->items[5]->text, "");
	read_end(&read);
	read = read_bytes(lines, strlen(lines));
	CU_ASSERT_EQUAL(value_get(read.tree, "a")->kind, VALUE_NULL);
	CU_ASSERT_EQUAL(value_get(read.tree, "b")->kind, VALUE_NULL);
	CU_ASSERT_STRING_EQUAL(value_get(read.tree, "c")->text, "x\ny\n");
	CU_ASSERT_TRUE(value_get(read.tree, "c")->quoted);
	read_end(&read);
}

static void test_encodings(void)
{
	accept("\xef\xbb\xbf"
	       "a: 1\n",
	       "a: 1\n");
	accept_bytes("\xff\xfe"
		     "a\0:\0 \0\xe4\0\n\0",
		     12, "a: ä\n");
	accept_bytes("\xfe\xff"
		     "\0a\0:\0 \0\xe4\0\n",
		     12, "a: ä\n");
	accept("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n");
	accept("{\n\t\"a\": [\n\t\t1\n\t]\n}\n", "a:\n- 1\n");
	accept("%YAML 1.2\n---\na: 1\n...\n", "a: 1\n");
	accept("a: |\n  x\n  \ty\n", "a: \"x\\n\\ty\\n\"\n");
}

static void test_bad_bytes(void)
{
	refuse_bytes("a: 1\nb: \0x\n", 11,
		     "f:2:4: error: a NUL byte, the file should be text in UTF-8\n");
	refuse_bytes("a\0b\0", 4, "f: error: is binary data, not a graph file\n");
	refuse_bytes(
	    "a: ä\xff", 6,
	    "f:1:5: error: the byte 0xff is not UTF-8, the file should be text in UTF-8\n");
	refuse_bytes(
	    "a: \xc3", 4,
	    "f:1:4: error: the byte 0xc3 is not UTF-8, the file should be text in UTF-8\n");
	refuse_bytes("a: 1\r\nb: ä\x1b[31m\n", 17,
		     "f:2:5: error: the control character U+001B, it should be left out or written "
		     "as an escape in double quotes\n");
	refuse_bytes("\xff\xfe"
		     "a\0:\0\n\0\0\xdcx\0",
		     12,
		     "f:2:1: error: this is not UTF-16, as the first bytes of the file say it "
		     "should be\n");
	refuse_bytes("\xd4\xc3\xb2\xa1\x02\0\x04\0", 8,
		     "f: error: is a packet capture, not a graph file\n");
	refuse_bytes("\x4d\x3c\xb2\xa1\x02\0\x04\0", 8,
		     "f: error: is a packet capture, not a graph file\n");
	refuse_bytes("\x0a\x0d\x0d\x0a\0\0\0\x1c", 8,
		     "f: error: is a packet capture, not a graph file\n");
	refuse_bytes("\x7f"
		     "ELF\2\1\1",
		     7, "f: error: is a program or library (ELF), not a graph file\n");
	refuse_bytes("", 0, "f: error: is empty, it should be a graph file\n");
	refuse_bytes("# no more\n", 10, "f: error: is empty, it should be a graph file\n");
}

static void test_tabs(void)
{
#define TAB " a tab in the indentation, it should be spaces"
	REFUSE({"a:\n\tb: 1\n", "2:1:" TAB}, {"a: 1\n\tb: 2\n", "2:1:" TAB},
	       {"a: 1\n  \tb: 2\n", "2:3:" TAB}, {"- a\n\t- b\n", "2:1:" TAB},
	       {"\ta: 1\n", "1:1:" TAB}, {"a: |\n\tx\n", "2:1:" TAB},
	       {"a:\n  b: 1\n\tc: 2\n", "3:1:" TAB});
}

static void test_syntax(void)
{
#define COLON                                                                                      \
	" a \":\" that belongs to no key, the text should be in quotes, or else indented as its "  \
	"neighbours"
#define QUOTE " this quote is not closed, the text should end with the same quote"
	REFUSE({"a: b: c\n", "1:5:" COLON}, {"a: 1\n b: 2\n", "2:3:" COLON},
	       {"a: \"abc\nb: 1\n", "1:4:" QUOTE}, {"a: 'abc\n", "1:4:" QUOTE},
	       {"a: - b\n",
		"1:4: a \"-\" that starts no item, a list should start on a line of its own"},
	       {"a: 1\nbcd\ne: 2\n",
		"2:1: a text without \":\" among the keys of a map, it should be \"key: value\""},
	       {"a: \"\\d\"\n",
		"1:5: an unknown escape, a backslash in double quotes should be written \\\\"},
	       {"a: [1, 2\nb: 3\n", "2:2: the list that starts at line 1 goes on here, \",\" or "
				    "\"]\" should come first"},
	       {"a: {b: 1 c: 2}\n", "1:11: the map that starts at line 1 goes on here, \",\" or "
				    "\"}\" should come first"},
	       {"a: 1\rb: [c d\re: f\r", "3:2: the list that starts at line 2 goes on here, \",\" "
					 "or \"]\" should come first"},
	       {"a: {ä: ${c}}\n", "1:9: a \"${\" inside brackets, the text should be in quotes"},
	       {"a:\n  b: 1\n c: 2\n",
		"3:2: this is no member of the map that starts at line 1, it should be \"key: "
		"value\", indented as the others"},
	       {"- a\nb: 1\n", "2:1: this is no item of the list that starts at line 1, it should "
			       "be \"- item\", indented as the others"},
	       {"a: ]\n", "1:4: nothing to read here, it should be a text, a list or a map"},
	       {"[a]\nb\n",
		"2:1: more text after the end of the value, the file should hold one value"},
	       {"a: *.pcap\n", "1:4: a \"*\" that starts no alias, the text should be in quotes"},
	       {"a: @b\n", "1:4: \"@\" cannot start a text, the text should be in quotes"},
	       {"a: !foo b\n", "1:4: the tag \"!foo\" means nothing here, it should be left out"},
	       {"a: !!int 5\n", "1:4: the tag \"!!int\" means nothing here, it should be left out"},
	       {"a: | x\n", "1:6: text behind \"|\" or \">\", it should start on the next line"},
	       {"a: \"x\\0y\"\n", "1:4: a NUL in the text, it should be left out"},
	       {"a: 1\n---\nb: 2\n", "2:1: a second document starts here, a file should hold one"},
	       {"%YAML 3.0\n---\na\n", "1:1: this is not YAML (found incompatible YAML document), "
				       "texts with special characters should be in quotes"});
}

static void test_keys(void)
{
	static const char doubled[] = "a: 1\nb: {c: 1, d: 2, 'c': 3}\na: 3\na: 4\n";
	struct read read = read_bytes(doubled, strlen(doubled));

	CU_ASSERT_STRING_EQUAL(
	    read.told,
	    "f:2:17: error: the key \"c\" is doubled, it should be given once (it is at line 2, "
	    "too)\n"
	    "f:3:1: error: the key \"a\" is doubled, it should be given once (it is at line 1, "
	    "too)\n"
	    "f:4:1: error: the key \"a\" is doubled, it should be given once (it is at line 1, "
	    "too)\n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(read.tree);
	CU_ASSERT_EQUAL(read.tree->n, 2);
	CU_ASSERT_STRING_EQUAL(value_get(read.tree, "a")->text, "1");
	CU_ASSERT_EQUAL(value_get(read.tree, "b")->n, 2);
	read_end(&read);
	REFUSE({"[a, b]: 1\n", "1:1: the key is a list, it should be a name"},
	       {"? {x: y}\n: 2\n", "1:3: the key is a map, it should be a name"},
	       {"'': 1\n", "1:1: the key is empty, it should be a name"},
	       {"~: 1\n", "1:1: the key is nothing, it should be a name"},
	       {"- &l [a]\n- {*l : 1}\n", "2:4: the key is a list, it should be a name"});
	accept("- &k a\n- {*k : 1}\n", "- a\n- a: 1\n");
}

static void test_aliases(void)
{
	accept("a: &x [1, 2]\nb: *x\nc: &x 5\nd: *x\n", "a:\n- 1\n- 2\nb:\n- 1\n- 2\nc: 5\nd: 5\n");
	accept("b: &b {x: 1, y: 2}\n"
	       "c: {y: 3, <<: *b}\n"
	       "d: {<<: [*b, {x: 9, z: 4}], q: 0}\n"
	       "e: {'<<': 1}\n",
	       "b:\n  x: 1\n  y: 2\n"
	       "c:\n  y: 3\n  x: 1\n"
	       "d:\n  q: 0\n  x: 1\n  y: 2\n  z: 4\n"
	       "e:\n  \"<<\": 1\n");
	refuse_bytes(
	    "a: *b\nc: *d\n", 12,
	    "f:1:4: error: the alias \"*b\" has no anchor, \"&b\" should come before it\n"
	    "f:2:4: error: the alias \"*d\" has no anchor, \"&d\" should come before it\n");
	REFUSE({"a: &a [*a]\n", "1:8: the alias \"*a\" stands inside what it stands for, it "
				"should be outside"},
	       {"<<: 5\n", "1:5: \"<<\" merges the text \"5\", it should be a map or a list of "
			   "maps"},
	       {"<<: [a]\n", "1:5: \"<<\" merges a list of other things, it should be a map or a "
			     "list of maps"},
	       {"<<: {a: 1}\n<<: {b: 1}\n", "2:1: the key \"<<\" is doubled, it should be given "
					    "once"});
}

static void test_alias_places(void)
{
	static const char text[] = "a: &x {k: v}\nb: *x\n";
	struct read read = read_bytes(text, strlen(text));

	expect_place(read.tree, "b", 2, 4);
	expect_place(read.tree, "b.k", 1, 11);
	CU_ASSERT_PTR_NOT_EQUAL(value_at(read.tree, "a.k"), value_at(read.tree, "b.k"));
	read_end(&read);
}

static void test_limits(void)
{
	static const char full[] = " error: more than 1000000 values, a file should hold fewer (an "
				   "alias counts as what it stands for)\n";
	char deep[131], *text, want[200];
	size_t length = 0;

	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	refuse_bytes(
	    deep, 130,
	    "f:1:65: error: nested deeper than 64 lists and maps, it should be less deep\n");
	deep[130] = '\0';
	CU_ASSERT_EQUAL(deep[1], '[');
	struct read read = read_bytes(deep + 1, 128);
	CU_ASSERT_PTR_NOT_NULL(read.tree);
	read_end(&read);

	// 10 to the power of 9 values in ten lines.
	text = memory_new(1, 4096);
	length += sprintf(text, "- &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (unsigned i = 1; i < 9; i++) {
		length += sprintf(text + length, "- &a%u [", i);
		for (unsigned j = 0; j < 10; j++)
			length += sprintf(text + length, "%s*a%u", j ? "," : "", i - 1);
		length += sprintf(text + length, "]\n");
	}
	snprintf(want, sizeof(want), "f:6:36:%s", full);
	refuse_bytes(text, length, want);
	free(text);

	length = 2 * 1000001;
	text = memory_new(1, length);
	for (size_t i = 0; i < length; i += 2)
		memcpy(text + i, "a,", 2);
	text[0] = '[';
	text[1] = ' ';
	text[length - 1] = ']';
	read = read_bytes(text, length - 2); // a list of 999,999 and a comma, not closed
	CU_ASSERT_PTR_NOT_NULL(strstr(read.told, "nothing to read here"));
	read_end(&read);
	free(text);

	text = memory_new(1, (16 << 20) + 1);
	memset(text, ' ', (16 << 20) + 1);
	refuse_bytes(text, (16 << 20) + 1,
		     "f: error: is 16777217 bytes long, a graph file should be at most 16 MiB\n");
	refuse_bytes(text, 16 << 20, "f: error: is empty, it should be a graph file\n");
	free(text);
}

static void refuse_file(const char *file, const char *want, int code)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	char *told;

	CU_ASSERT_PTR_NULL(yaml_read_file(arena, file, errors));
	told = errors_text(errors);
	CU_ASSERT_STRING_EQUAL(told, arena_printf(arena, "%s: error: %s\n", file, want));
	CU_ASSERT_EQUAL(errors_exit_code(errors), code);
	free(told);
	errors_free(errors);
	arena_free(arena);
}

static void test_files(void)
{
	char dir[] = "/tmp/yaml_test.XXXXXX", file[64];
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *tree;
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/g.yaml", dir);
	refuse_file(dir, "is a directory, not a graph file", 2);
	refuse_file(file, "there is no such file", 2);
	refuse_file("/dev/null", "is a device, not a graph file", 2);
	CU_ASSERT_EQUAL(mkfifo(file, 0600), 0);
	refuse_file(file, "is a FIFO, not a graph file", 2);
	unlink(file);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	CU_ASSERT_EQUAL(ftruncate(fd, 100 << 20), 0);
	refuse_file(file, "is 104857600 bytes long, a graph file should be at most 16 MiB", 2);
	CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
	refuse_file(file, "is empty, it should be a graph file", 2);
	CU_ASSERT_EQUAL(write(fd, "a: 1\n", 5), 5);
	close(fd);
	tree = yaml_read_file(arena, file, errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
	CU_ASSERT_STRING_EQUAL(value_get(tree, "a")->place.file, file);
	CU_ASSERT_EQUAL(chmod(file, 0), 0);
	if (geteuid())
		refuse_file(file, "no permission to read the file, it should be readable for you",
			    3);
	else
		test_skip("root may read everything");
	unlink(file);
	rmdir(dir);
	arena_free(arena);
	errors_free(errors);
}

static const CU_TestInfo cases[] = {
    {"places", test_places},
    {"kinds of scalars", test_kinds},
    {"encodings and line ends", test_encodings},
    {"bytes that are no text", test_bad_bytes},
    {"tabs", test_tabs},
    {"syntax", test_syntax},
    {"keys", test_keys},
    {"aliases and merges", test_aliases},
    {"places of aliases", test_alias_places},
    {"limits", test_limits},
    {"files", test_files},
    CU_TEST_INFO_NULL,
};
SUITE(yaml, cases)
