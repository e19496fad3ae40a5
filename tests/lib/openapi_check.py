#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks an OpenAPI document: openapi_check.py FILE. Those parts of the schema of OpenAPI 3.0 that
the program uses, with no other keys, and what a schema cannot say."""

import json
import re
import sys

import jsonschema

PARAMETER = {
    "type": "object",
    "required": ["name", "in", "required", "schema"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "in": {"enum": ["path", "query"]},
        "required": {"type": "boolean"},
        "schema": {"type": "object", "required": ["type"]},
    },
}
OPERATION = {
    "type": "object",
    "required": ["operationId", "summary", "parameters", "responses"],
    "additionalProperties": False,
    "properties": {
        "operationId": {"type": "string", "pattern": "^[a-z][a-z_]*$"},
        "summary": {"type": "string", "minLength": 5},
        "parameters": {"type": "array", "items": PARAMETER},
        "requestBody": {
            "type": "object",
            "required": ["content"],
            "additionalProperties": False,
            "properties": {
                "description": {"type": "string"},
                "content": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "object"},
                },
            },
        },
        "responses": {
            "type": "object",
            "required": ["200", "default"],
            "additionalProperties": {
                "type": "object",
                "required": ["description"],
                "additionalProperties": False,
                "properties": {"description": {"type": "string"}},
            },
        },
    },
}
DOCUMENT = {
    "type": "object",
    "required": ["openapi", "info", "paths"],
    "additionalProperties": False,
    "properties": {
        "openapi": {"const": "3.0.3"},
        "info": {
            "type": "object",
            "required": ["title", "version"],
            "additionalProperties": False,
            "properties": {
                "title": {"type": "string"},
                "version": {"type": "string"},
                "description": {"type": "string"},
            },
        },
        "paths": {
            "type": "object",
            "minProperties": 5,
            "patternProperties": {
                "^/": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": False,
                    "properties": dict.fromkeys(["get", "put", "post", "delete"], OPERATION),
                }
            },
            "additionalProperties": False,
        },
    },
}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    jsonschema.validate(document, DOCUMENT)
    names = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            names.append(operation["operationId"])
            parameters = operation["parameters"]
            in_path = [one["name"] for one in parameters if one["in"] == "path"]
            assert in_path == re.findall(r"{(\w+)}", path), f"{method} {path}: {in_path}"
            assert all(one["required"] == (one["in"] == "path") for one in parameters), path
            assert len({one["name"] for one in parameters}) == len(parameters), path
            assert method != "get" or "requestBody" not in operation, path
    assert len(set(names)) == len(names), f"an operationId is there twice: {sorted(names)}"


main()
