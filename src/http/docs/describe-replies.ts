import type { EndpointReply, ValueShape } from '../../flows/values/value-shape.ts'
import { metaSchema } from '../../shared/api/record-schemas.ts'
import { type FieldRule, type FieldsOf, isAutomatic } from '../../shared/field-rule.ts'
import { fieldTypeEntries, type JsonSchema } from '../../shared/fields/field-type.ts'
import type { ApiResponse, ApiSchema } from './open-api-document.ts'

/** Replies of a flow as OpenAPI responses, by status. Empty where it has none that is known. */
export function describeReplies(
  replies: readonly EndpointReply[],
  documents: DocumentSchemas,
): Readonly<Record<string, ApiResponse>> {
  const byStatus = new Map<string, Map<string, ApiSchema[]>>()
  for (const { code, value, type = 'application/json' } of replies) {
    const status = code === undefined ? 'default' : String(code)
    const byType = byStatus.get(status) ?? new Map<string, ApiSchema[]>()
    byStatus.set(status, byType)
    // A redirect has no body.
    if (type === '') continue
    const schemas = byType.get(type) ?? []
    byType.set(type, schemas)
    const schema = schemaOf(value, documents)
    if (!schemas.some((other) => JSON.stringify(other) === JSON.stringify(schema))) schemas.push(schema)
  }
  return Object.fromEntries(
    [...byStatus].map(([status, byType]) => {
      const content = Object.fromEntries(
        [...byType].map(([type, schemas]) => {
          const [first = {}, ...more] = schemas
          return [type, { schema: more.length === 0 ? first : { anyOf: schemas } }]
        }),
      )
      return [status, { description: 'What the flow replies.', ...(byType.size > 0 && { content }) }]
    }),
  )
}

/** Generated clients take an object without properties for one that has none. */
const anyObject: ApiSchema = { type: 'object', additionalProperties: true }

/** As in the schema of the document. */
function storedField(storage: string, name: string, documents: DocumentSchemas): ApiSchema {
  let at: ApiSchema = {
    properties: { _meta: metaSchema, ...documentFields(documents.fieldsOf(storage)) },
  }
  for (const part of name.split('.')) at = at.properties?.[part] ?? {}
  return at
}

function schemaOf(shape: ValueShape, documents: DocumentSchemas): ApiSchema {
  switch (shape.kind) {
    case 'unknown':
      return {}
    case 'scalar':
      return { type: shape.type }
    case 'field':
      return storedField(shape.storage, shape.name, documents)
    case 'list':
      return { type: 'array', items: schemaOf(shape.items, documents) }
    case 'object': {
      const { storage, fields, expand = [] } = shape
      const own = Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [name, schemaOf(field, documents)]),
      )
      if (storage === undefined)
        return Object.keys(own).length === 0 && shape.open ? anyObject : { type: 'object', properties: own }
      const rules = documents.fieldsOf(storage)
      const { without = [] } = shape
      const schema = (): ApiSchema => {
        const all = Object.entries({
          _meta: metaSchema,
          ...documentFields(rules),
          ...expandedSchema(rules, expand, documents),
        })
        const left = all.filter(([name]) => !without.includes(name))
        return {
          type: 'object',
          description: `A document of the storage ${storage}.`,
          properties: { ...Object.fromEntries(left), ...own },
          ...(!without.includes('_meta') && { required: ['_meta'] }),
        }
      }
      // A document with more on top, or less, is another type; without rules there is nothing to name.
      const isWhole = Object.keys(own).length === 0 && expand.length === 0 && without.length === 0
      return rules.length > 0 && isWhole ? documents.named(storage, schema) : schema()
    }
  }
}

/** What documents refer to, as far as a client asks for it; null where it is removed or hidden. */
function expandedSchema(
  rules: readonly FieldRule[],
  expand: readonly string[],
  documents: DocumentSchemas,
): Readonly<Record<string, ApiSchema>> {
  const watched = rules.flatMap(({ name, reference }): [string, ApiSchema][] => {
    if (reference === undefined || !expand.includes(name)) return []
    const shape = { kind: 'object', fields: {}, storage: reference.storage, open: true } as const
    return [[name, { anyOf: [schemaOf(shape, documents), { type: 'null' }] }]]
  })
  return watched.length === 0 ? {} : { _expand: { type: 'object', properties: Object.fromEntries(watched) } }
}

interface Tree {
  readonly rule?: FieldRule
  readonly inner: Map<string, Tree>
}

/** Dotted names become objects in objects. Nothing is required: documents may be older than their rules. */
export function documentFields(rules: readonly FieldRule[]): Readonly<Record<string, ApiSchema>> {
  const root: Tree = { inner: new Map() }
  // In the order of the fields, but that an object is there before what is in it.
  const deep = rules.map((rule) => ({ rule, parts: rule.name.split('.') }))
  for (const { rule, parts } of deep.toSorted((one, other) => one.parts.length - other.parts.length)) {
    let at = root
    for (const [index, part] of parts.entries()) {
      const next = at.inner.get(part) ?? { inner: new Map(), ...(index === parts.length - 1 && { rule }) }
      at.inner.set(part, next)
      at = next
    }
  }
  return propertiesOf(root)
}

function propertiesOf({ inner }: Tree): Readonly<Record<string, ApiSchema>> {
  return Object.fromEntries(
    [...inner].map(([name, tree]): [string, ApiSchema] => {
      const own = tree.rule ? fieldSchema(tree.rule) : { type: 'object' }
      return [name, tree.inner.size === 0 ? own : { ...own, properties: propertiesOf(tree) }]
    }),
  )
}

function fieldSchema(rule: FieldRule): ApiSchema {
  const { type, required, limits, label, help } = rule
  const schema = fieldTypeEntries[type].schema(limits)
  return {
    ...(required ? schema : nullable(schema)),
    ...(label !== undefined && { title: label }),
    ...(help !== undefined && { description: help }),
    ...(isAutomatic(rule) && { readOnly: true }),
  }
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema
  if (values) return { ...schema, enum: [...values, null] }
  return type === undefined ? schema : { ...schema, type: [type, 'null'].flat() }
}

/** Schemas of the documents of storages under names of their own, so that generated clients have a type for each. */
export interface DocumentSchemas {
  readonly fieldsOf: FieldsOf
  /** A reference to the document's schema; `make` is called at the first one. */
  named(storage: string, make: () => ApiSchema): ApiSchema
  /** Those that were named so far. */
  readonly schemas: Readonly<Record<string, ApiSchema>>
}

export function documentSchemas(fieldsOf: FieldsOf): DocumentSchemas {
  const names = new Map<string, string>()
  const schemas: Record<string, ApiSchema> = {}
  return {
    fieldsOf,
    schemas,
    named(storage, make) {
      let name = names.get(storage)
      if (name === undefined) {
        name = freeName(storage, schemas)
        names.set(storage, name)
        schemas[name] = make()
      }
      return { $ref: `#/components/schemas/${name}` }
    },
  }
}

/** `open_tasks` becomes `OpenTasksDocument`; a second storage of such a name `OpenTasksDocument2`. */
function freeName(storage: string, taken: Readonly<Record<string, ApiSchema>>): string {
  const words = storage.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Document`
  for (let number = 1; ; number++) {
    const one = number === 1 ? name : `${name}${number}`
    if (!Object.hasOwn(taken, one)) return one
  }
}
