/** JSON schemas of the files of an application, for editors: they complete names of blocks, pins, settings and fields, and show their help. */
import type { BlockDescription } from '../shared/api/blocks/blocks.ts'
import { createFieldSchema } from '../shared/api/blueprints/blueprint-fields.ts'
import { createTemplateSchema } from '../shared/api/blueprints/templates.ts'
import { createStorageSchema } from '../shared/api/data/storages.ts'
import { createGroupSchema } from '../shared/api/people/users.ts'
import { type ClusterMap, clusterMaps } from '../shared/application/cluster-objects.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { textSchema } from './application-texts.ts'
import { aboutSchema } from './check-application.ts'
import { clusterSchemas } from './cluster-objects.ts'

/** As `$schema` of a file names them. */
export const fileSchemaNames = [
  ...(['application', 'blueprint', 'storage', 'groups', 'template', 'texts', 'test'] as const),
  ...clusterMaps,
] as const
export type FileSchemaName = (typeof fileSchemaNames)[number]

export function fileSchemas(
  blocks: readonly BlockDescription[],
): Readonly<Record<FileSchemaName, JsonObject>> {
  const field = withoutNames(createFieldSchema, ['name', 'storage', 'blueprint_guid'])
  const group = withoutNames(createGroupSchema, ['name'])
  const { css: _css, js: _js, ...template } = createTemplateSchema.properties
  return {
    application: file(plain(aboutSchema.properties), ['name']),
    blueprint: blueprintSchema(blocks),
    storage: file({
      ...withoutNames(createStorageSchema, ['name']),
      fields: mapOf(object({ ...field, ...conversionWords }, ['type']), 'By name.'),
    }),
    groups: file({ groups: mapOf(object(group), 'By name.') }, ['groups']),
    connections: fileOfMap('connections'),
    alerts: fileOfMap('alerts'),
    views: fileOfMap('views'),
    queues: fileOfMap('queues'),
    template: file({ ...plain(template), content: { type: 'object' } }, ['name']),
    texts: { ...file({}), additionalProperties: plain(textSchema) },
    test: file(
      {
        ...{ name: text, given: { type: 'object' }, steps: { type: 'array' } },
        cases: {
          type: ['string', 'array'],
          description:
            'Of an evaluation: its cases, or the name of a file beside this one with a case a line.',
        },
        score: {
          ...text,
          description: 'Of a case, from 0 to 1: an expression such as "=value.kind == doc.kind".',
        },
        at_least: { type: 'number', minimum: 0, maximum: 1, description: 'Mean of all scores.' },
      },
      ['name', 'steps'],
    ),
  }
}

const text: JsonObject = { type: 'string' }

/** What a push does to stored documents. */
const conversionWords: JsonObject = {
  was: { type: 'string', description: 'The former name of the field.' },
  convert: {
    type: 'string',
    pattern: '^=',
    description: 'An expression over value and doc: what a stored value becomes, such as "=number(value)".',
  },
  fill: {
    description:
      'What documents get that have none: a value, or an expression over doc, such as "=doc.title".',
  },
}

/** Schemas of the API as JSON: without what only the checker reads. */
function plain(schemas: object): JsonObject {
  return JSON.parse(JSON.stringify(schemas))
}

function withoutNames({ properties }: { readonly properties: object }, names: readonly string[]): JsonObject {
  const entries = Object.entries(plain(properties))
  return Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return {
    type: 'object',
    properties,
    additionalProperties: false,
    ...(required.length > 0 && { required: [...required] }),
  }
}

function mapOf(value: JsonObject, description: string): JsonObject {
  return { type: 'object', description, additionalProperties: value }
}

function file(properties: JsonObject, required: readonly string[] = []): JsonObject {
  const schema = 'https://json-schema.org/draft/2020-12/schema'
  return { $schema: schema, ...object({ $schema: text, ...properties }, required) }
}

function fileOfMap(map: ClusterMap): JsonObject {
  const { properties, ...schema } = plain(clusterSchemas[map])
  // The document of a connection is a file of its own.
  const { document: _, ...shown } = isJsonObject(properties) ? properties : {}
  return file({ [map]: mapOf({ ...schema, properties: shown }, 'By name.') }, [map])
}

function blueprintSchema(blocks: readonly BlockDescription[]): JsonObject {
  const types = blocks.map(
    ({ identifier, title, summary }): JsonObject => ({
      const: identifier,
      description: `${title}: ${summary}`,
    }),
  )
  const block = object(
    {
      type: { anyOf: types },
      title: text,
      description: text,
      in: { type: 'object', description: 'By pin: "@block.pin", "=expression", or a value.' },
      out: { type: 'array', description: 'Pins that the builder adds.' },
      fields: { type: 'object', description: 'Settings.' },
      scopes: { type: 'array', items: text },
    },
    ['type'],
  )
  const place: JsonObject = { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }
  return file(
    {
      name: text,
      description: text,
      category: text,
      tags: { type: 'array', items: text },
      blocks: mapOf({ ...block, allOf: blocks.map(ofType) }, 'By name.'),
      notes: { type: 'array' },
      layout: mapOf(place, 'Where a block stands, by its name.'),
    },
    ['name', 'blocks'],
  )
}

/** What a block of this type has. Pins that its settings add have any name. */
function ofType({ identifier, in: pins, settings, more_in: more }: BlockDescription): JsonObject {
  return {
    if: { properties: { type: { const: identifier } } },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: {
      properties: {
        in: { properties: helpOf(pins), ...(!more && { additionalProperties: false }) },
        fields: { properties: helpOf(settings), additionalProperties: false },
      },
    },
  }
}

function helpOf(parts: Readonly<Record<string, { readonly help: string }>>): JsonObject {
  const entries = Object.entries(parts).map(([name, { help }]): [string, JsonValue] => [
    name,
    { description: help },
  ])
  return Object.fromEntries(entries)
}
