// SPDX-License-Identifier: BSD-3-Clause
// Faults as JSON, taken from the lines that people see, so that both say the same.

#include "value/errors_json.h"

#include <stdlib.h>
#include <string.h>

// Takes "LINE" or "COL" off the end of a place: "g.yaml:3:7" leaves "g.yaml:3".
static bool number_off(char *place, json_int_t *number)
{
	char *colon = strrchr(place, ':');
	char *end;

	if (!colon || !colon[1])
		return false;
	*number = strtoll(colon + 1, &end, 10);
	if (*end)
		return false;
	*colon = '\0';
	return true;
}

// "FILE[:LINE[:COL]]: error: MESSAGE" as an object.
static json_t *error_json(char *line)
{
	static const char mark[] = ": error: ";
	char *message = strstr(line, mark);
	json_int_t last, first;
	json_t *error;

	if (!message)
		return json_pack("{s:s}", "message", line);
	*message = '\0';
	error = json_pack("{s:s}", "message", message + strlen(mark));
	if (number_off(line, &last)) {
		if (number_off(line, &first)) {
			json_object_set_new(error, "line", json_integer(first));
			json_object_set_new(error, "column", json_integer(last));
		} else {
			json_object_set_new(error, "line", json_integer(last));
		}
	}
	json_object_set_new(error, "file", json_string(line));
	return error;
}

json_t *errors_json(const struct errors *errors)
{
	json_t *list = json_array();
	char *text = errors_text(errors);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			json_array_append_new(list, error_json(line));
	free(text);
	return list;
}
