import { queryOptions } from '@tanstack/react-query'
import { apiTexts } from '../texts/sign-in.ts'
import { call } from './request.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface Described {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
  readonly security?: readonly object[]
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
  readonly tags?: readonly { readonly name: string }[]
}

/** One thing that can be asked of the API. */
export interface Operation extends Described {
  /** `GET /api/v1/tasks`: no two have the same. */
  readonly id: string
  readonly method: string
  readonly path: string
  /** Made by a blueprint; the others are Quoin's own. */
  readonly isCustom: boolean
}

/** All that this user may ask for: what blueprints answer comes and goes. */
export const openApiQuery = queryOptions({
  queryKey: ['open-api'],
  queryFn: ({ signal }) => call<ApiDocument>('GET', '/openapi.json', { signal }),
})

/** The operations by tag, those of blueprints first. */
export function operationsByTag(document: ApiDocument): Map<string, Operation[]> {
  const custom = new Set((document.tags ?? []).map(({ name }) => name))
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Operation => {
      const tag = operation.tags?.[0] ?? ''
      return {
        ...operation,
        id: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        isCustom: custom.has(tag) && !isOwn(operation),
      }
    }),
  )
  const tagged = Map.groupBy(all, ({ tags }) => tags?.[0] ?? apiTexts.other)
  const isOfBlueprint = ([, list]: [string, Operation[]]) => list.some(({ isCustom }) => isCustom)
  return new Map([...tagged].toSorted((a, b) => Number(isOfBlueprint(b)) - Number(isOfBlueprint(a))))
}

/** Quoin's own replies say what their errors are like by one schema. */
function isOwn({ responses }: Described): boolean {
  return JSON.stringify(responses).includes('#/components/schemas/Error')
}

/** Follows a reference into the document. */
function resolved(schema: Schema, document: ApiDocument): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {})
}

const DEPTH = 4

/** A body to begin with: each field that is needed, or all where none is, with a value of its type. */
export function exampleOf(input: Schema, document: ApiDocument, depth = 0): unknown {
  const schema = resolved(input, document)
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice) return exampleOf(choice, document, depth)
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (schema.properties || type === 'object') {
    if (depth >= DEPTH) return {}
    const names = schema.required?.length ? schema.required : Object.keys(schema.properties ?? {})
    const fields = names.filter((name) => name !== '_meta')
    return Object.fromEntries(
      fields.map((name) => [name, exampleOf(schema.properties?.[name] ?? {}, document, depth + 1)]),
    )
  }
  if (type === 'array') return []
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  return type === 'boolean' ? false : type === 'null' ? null : ''
}

export interface SchemaField {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
}

/** The fields of a schema with dotted names, the inner ones after the one that they are in. */
export function schemaFields(input: Schema, document: ApiDocument, prefix = '', depth = 0): SchemaField[] {
  const schema = resolved(input, document)
  if (depth > DEPTH) return []
  if (schema.items) return schemaFields(schema.items, document, prefix, depth)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = resolved(field, document)
    const row = {
      name: prefix + name,
      type: typeWords(field, document),
      required: schema.required?.includes(name) ?? false,
      description: field.description ?? inner.description ?? '',
    }
    // What every record carries is known.
    if (name === '_meta') return [row]
    return [row, ...schemaFields(field, document, `${prefix}${name}${inner.items ? '[]' : ''}.`, depth + 1)]
  })
}

export function typeWords(input: Schema, document: ApiDocument): string {
  const schema = resolved(input, document)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map((one) => typeWords(one, document)))].join(' | ')
  if (schema.items) return `${typeWords(schema.items, document)}[]`
  const { type = 'any' } = schema
  return typeof type === 'string' ? type : type.join(' | ')
}
