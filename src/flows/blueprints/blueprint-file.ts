/** Reading a blueprint file: its shape is checked here, what it means is in `shared/application/blueprint-file.ts`. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { documentFieldsSchema, MAX_SAMPLES } from '../../shared/api/data/documents.ts'
import { anyJson } from '../../shared/api/record-schemas.ts'
import { type ApplicationParts, MOST_PARTS } from '../../shared/application/application-parts.ts'
import {
  type BlueprintFile,
  blueprintOfFile,
  type ImportedBlueprint,
  refusedFile,
} from '../../shared/application/blueprint-file.ts'
import { blockContent } from '../../shared/blueprint.ts'
import { blueprintNoteSchema, MAX_NOTES } from '../../shared/blueprint-note.ts'
import { invalidField } from '../../shared/errors.ts'
import { wordFor } from '../../shared/fields/type-words.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { ENVIRONMENT_NAME, SECRET_NAME } from '../../shared/names/stored-names.ts'
import { pinTypes } from '../../shared/pin-type.ts'

const Id = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

const MAX_SAMPLE_STORAGES = 20

const FileBlockSchema = Type.Object(
  {
    type: blockContent.type,
    title: Type.Optional(blockContent.title),
    description: Type.Optional(blockContent.description),
    in: Type.Optional(Type.Record(Type.String(), anyJson())),
    out: Type.Optional(blockContent.custom_out_pins),
    fields: Type.Optional(blockContent.fields),
    scopes: Type.Optional(blockContent.scopes),
  },
  { additionalProperties: false },
)

const { kind, text, color } = blueprintNoteSchema.properties
const Pair = Type.Tuple([Type.Number(), Type.Number()])

const FileNoteSchema = Type.Object(
  { kind, text, color, at: Pair, size: Pair },
  { additionalProperties: false },
)

/** The API checks the rest when they are made. */
const parts = Type.Optional(
  Type.Array(
    Type.Object({ name: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: anyJson() }),
    { maxItems: MOST_PARTS },
  ),
)

const names = Type.Optional(
  Type.Array(Type.String({ pattern: SECRET_NAME }), { maxItems: 10_000, uniqueItems: true }),
)

const BlueprintFileSchema = Type.Object(
  {
    /** For editors. */
    $schema: Type.Optional(Type.String({ maxLength: 1_000 })),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    category: Type.Optional(Type.String({ maxLength: 100 })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
    env: Type.Optional(
      Type.Array(Type.String({ pattern: ENVIRONMENT_NAME }), { maxItems: 10_000, uniqueItems: true }),
    ),
    secrets: names,
    connections: names,
    groups: parts,
    storages: parts,
    fields: parts,
    templates: parts,
    blocks: Type.Record(Type.String({ pattern: Id }), FileBlockSchema, { additionalProperties: false }),
    layout: Type.Optional(Type.Record(Type.String({ pattern: Id }), Pair, { additionalProperties: false })),
    notes: Type.Optional(Type.Array(FileNoteSchema, { maxItems: MAX_NOTES })),
    documents: Type.Optional(
      Type.Record(Type.String(), Type.Array(documentFieldsSchema, { maxItems: MAX_SAMPLES }), {
        maxProperties: MAX_SAMPLE_STORAGES,
      }),
    ),
  },
  { additionalProperties: false },
)

/** Reads a file's JSON. Each block and note gets a guid of its own. Throws INVALID_BODY, naming the place. */
export function importBlueprint(json: unknown, newGuid: () => string): ImportedBlueprint {
  return blueprintOfFile(checked(json), newGuid)
}

/** The documents that the file brings, by storage. Throws as `importBlueprint`. */
export function documentsOfFile(
  json: unknown,
): readonly (readonly [storage: string, documents: JsonObject[]])[] {
  return Object.entries(checked(json).documents ?? {})
}

/** The groups, storages, fields and templates that the file brings. Throws as `importBlueprint`. */
export function partsOfFile(json: unknown): ApplicationParts {
  const { groups = [], storages = [], fields = [], templates = [] } = checked(json)
  for (const [at, field] of fields.entries()) {
    const word = ['fill', 'convert'].find((one) => field[one] !== undefined)
    // An import makes fields at once; only a push goes through the documents first.
    if (word !== undefined)
      throw invalidField(
        `fields.${at}.${word}`,
        `fields.${at}.${word} is for the folder of an application, whose push gives stored documents their values. Remove it.`,
      )
  }
  return { groups, storages, fields, templates }
}

/** With the words of pins for the types of parameters: fields and schemas have others. */
function withPinWords(json: unknown): unknown {
  if (!isJsonObject(json) || !isJsonObject(json.blocks)) return json
  const typed = (pin: JsonValue) =>
    isJsonObject(pin) && 'type' in pin ? { ...pin, type: wordFor(pin.type, pinTypes) ?? pin.type } : pin
  const blocks = Object.entries(json.blocks).map(([name, block]) => [
    name,
    isJsonObject(block) && Array.isArray(block.out) ? { ...block, out: block.out.map(typed) } : block,
  ])
  return { ...json, blocks: Object.fromEntries(blocks) }
}

let compiled: ReturnType<typeof compileSchema> | undefined
const compileSchema = () => Compile(BlueprintFileSchema)

function checked(input: unknown): BlueprintFile {
  compiled ??= compileSchema()
  const json = withPinWords(input)
  if (compiled.Check(json)) return json
  // Bounded by the library. A value that fits no part of a choice has several at one place: the first one says most.
  const problems = new Map<string, string>()
  for (const { keyword, instancePath, message, params } of compiled.Errors(json)) {
    const place = instancePath.slice(1).replaceAll('/', '.')
    const unknown = keyword === 'additionalProperties' ? params.additionalProperties : []
    for (const name of unknown)
      problems.set(
        place === '' ? name : `${place}.${name}`,
        `The blueprint file does not fit at ${place || 'its top'}: ${name} is unknown.`,
      )
    // Also reported as a value of a schema that nothing fits.
    if (unknown.length > 0 || keyword === 'boolean' || problems.has(place)) continue
    problems.set(place, `The blueprint file does not fit at ${place || 'its top'}: ${message}.`)
  }
  throw refusedFile(problems)
}
