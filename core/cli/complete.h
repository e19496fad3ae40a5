// SPDX-License-Identifier: BSD-3-Clause
// What a word on the command line may become: for the completion of shells.

#ifndef SLUICE_CLI_COMPLETE_H
#define SLUICE_CLI_COMPLETE_H

#include "cli/cli.h"

// The words behind `sluice`, the last one being what is completed. Prints what it may become, a
// line each: the word, a tab, and help. A word that ends with `=` goes on. `:files EXTENSION...`
// and
// `:folders` ask the shell for its own. The exit code.
int complete(const struct subcommand *const *, size_t n, int n_words, char **words);

// What is on the line before the word, and the word itself.
struct line {
	const struct subcommand *command;
	const char *word;
	const char **arguments; // those before it that are no options
	unsigned n_arguments;
	const char *instance; // of --name; NULL: not given
};

// Prints a word that begins as the line's does; `prefix` comes before it.
void complete_offer(const struct line *, const char *prefix, const char *text, const char *help);

// complete_live.c: what the instance that runs has. Nothing, where none answers.
void complete_instances(const struct line *, const char *prefix);
void complete_nodes(const struct line *, bool with_commands);
void complete_gates(const struct line *); // NODE[GATE]
void complete_commands(const struct line *);
void complete_values(const struct line *); // NAME=VALUE of a command

#endif
