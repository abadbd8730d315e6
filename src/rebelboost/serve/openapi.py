"""The description of the service, for tools: OpenAPI 3.1."""

from typing import Any

from rebelboost import __version__
from rebelboost.export.reading import CATEGORY, NUMBER
from rebelboost.serve.answers import Service
from rebelboost.serve.limits import JSON, Limits

ERRORS = {
    "400": "The body is not JSON.",
    "408": "The body took too long.",
    "413": "The body is too large, or has too many rows.",
    "415": "The content type is not application/json.",
    "422": "A row cannot be read; the message names the row and the column.",
    "503": "The answer took too long.",
}


def description(service: Service, title: str, limits: Limits) -> dict[str, Any]:
    """The whole description."""
    rows = {"$ref": "#/components/schemas/Row"}
    body = {
        "required": True,
        "content": {
            JSON: {
                "schema": {
                    "oneOf": [
                        rows,
                        {
                            "type": "array",
                            "items": rows,
                            "minItems": 1,
                            "maxItems": limits.max_rows,
                        },
                    ]
                }
            }
        },
    }
    top = {
        "name": "top",
        "in": "query",
        "description": "Number of reasons.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__},
        "paths": {
            "/predict": {"post": _operation("Predict for rows.", body, "Predictions")},
            "/explain": {
                "post": _operation("Predict for rows, with reasons.", body, "Explanations")
                | {"parameters": [top]}
            },
            "/health": {
                "get": {"summary": "Whether the service runs.", "responses": _said("Health")}
            },
        },
        "components": {"schemas": _schemas(service)},
    }


def _operation(summary: str, body: dict[str, Any], answer: str) -> dict[str, Any]:
    errors = {
        status: {"description": told, "content": _content("Error")}
        for status, told in ERRORS.items()
    }
    return {"summary": summary, "requestBody": body, "responses": {**_said(answer), **errors}}


def _said(name: str) -> dict[str, Any]:
    return {"200": {"description": "The answer.", "content": _content(name)}}


def _content(name: str) -> dict[str, Any]:
    return {JSON: {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _schemas(service: Service) -> dict[str, Any]:
    text, number = {"type": "string"}, {"type": "number"}
    if service.predicts_numbers:
        said: dict[str, Any] = {"prediction": number}
    else:
        names = service.names
        by_class = {"type": "object", "properties": dict.fromkeys(names, number)}
        said = {"decision": {}, "probabilities": by_class, "expected_costs": by_class}
    prediction = {"type": "object", "properties": said, "required": list(said)}
    notes = {"type": "array", "items": text, "description": "Cells that count as missing."}
    error = {"type": "object", "properties": {"message": text}}
    return {
        "Row": _row(service),
        "Predictions": _answer(prediction, notes),
        "Explanations": _answer(
            prediction | {"properties": {**said, "text": text}, "additionalProperties": True}, notes
        ),
        "Health": {
            "type": "object",
            "properties": {"status": text, "model": text, "version": text},
        },
        "Error": {"type": "object", "properties": {"error": error}},
    }


def _answer(each: dict[str, Any], notes: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": each}, "notes": notes},
    }


def _row(service: Service) -> dict[str, Any]:
    """Columns of a row; those that become several features are described by the first."""
    properties: dict[str, Any] = {}
    for reading in service.reader.readings:
        if reading.column in properties:
            continue
        told: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
        if reading.kind == CATEGORY:
            told["examples"] = list(reading.levels[:10])
        elif reading.kind == NUMBER:
            told = {"type": ["number", "string", "null"]}
        else:
            told = {"type": ["string", "null"]}
        properties[reading.column] = told
    return {
        "type": "object",
        "description": "Column and cell, as in the training table; null is a missing cell.",
        "properties": properties,
        "required": list(properties),
    }
