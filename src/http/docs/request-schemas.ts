/** Schemas of triggers as OpenAPI describes them. */

import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import { type FieldsOf, isFilledIn } from '../../shared/field-rule.ts'
import type { RequestField } from '../../shared/request-field.ts'
import { ONE_LINE_PATTERN } from '../../shared/texts/one-line.ts'
import { documentFields } from './describe-replies.ts'
import type { ApiSchema } from './open-api-document.ts'

/** JSON Schema of one field. Blank texts and nulls that a field which is not required accepts are not described. */
export function requestFieldSchema({ several, ...field }: RequestField): ApiSchema {
  const one = oneSchema(field)
  // A client that sends one value need not send a list.
  return several ? { anyOf: [one, { type: 'array', items: one }] } : one
}

function oneSchema(field: RequestField): ApiSchema {
  const { type, choices, pattern, default: standard, min_length, max_length } = field
  const [min, max] = [field.min, field.max].map((limit) => (typeof limit === 'number' ? limit : undefined))
  const ofNumber = type === 'number' || type === 'whole number'
  const common = { ...(standard !== undefined && { default: standard }) }
  const range = {
    ...(ofNumber && min !== undefined && { minimum: min }),
    ...(ofNumber && max !== undefined && { maximum: max }),
  }
  switch (type) {
    case 'text':
    case 'line':
      return {
        type: 'string',
        ...common,
        ...(type === 'line' && { pattern: ONE_LINE_PATTERN }),
        ...(choices && { enum: choices }),
        ...(pattern !== undefined && { pattern }),
        ...(min_length !== undefined && { minLength: min_length }),
        ...(max_length !== undefined && { maxLength: max_length }),
      }
    case 'number':
      return { type: 'number', ...common, ...range, ...(choices && { enum: choices }) }
    case 'whole number':
      return { type: 'integer', ...common, ...range, ...(choices && { enum: choices }) }
    case 'condition':
      return { type: 'boolean', ...common }
    case 'date':
      return { type: ['string', 'number'], description: 'ISO 8601 text, or Unix seconds.', ...common }
    case 'day':
      return { type: 'string', format: 'date', ...common }
    case 'list':
      return {
        type: 'array',
        items: choices ? { enum: choices } : {},
        ...common,
        ...(max_length !== undefined && { maxItems: max_length }),
      }
    case 'object':
      return { type: 'object', ...common }
    case 'any':
      return { ...common }
  }
}

/** The body of an endpoint whose trigger names fields of it; undefined for another. */
export function requestBodySchema(
  { listening: { schema = [], schemaStorage, method } }: CompiledEndpoint,
  fieldsOf: FieldsOf,
): ApiSchema | undefined {
  const fields = schema.filter((field) => field.in === 'body')
  const rules = schemaStorage === undefined ? [] : fieldsOf(schemaStorage)
  if (fields.length === 0 && rules.length === 0) return undefined
  const partial = method === 'PUT' || method === 'PATCH'
  const required = new Set([
    ...fields.filter((field) => field.required && field.default === undefined).map(({ name }) => name),
    ...rules
      .filter((rule) => !partial && rule.required && !isFilledIn(rule) && !rule.name.includes('.'))
      .map(({ name }) => name),
  ])
  const own = Object.fromEntries(fields.map((field) => [field.name, requestFieldSchema(field)]))
  return {
    type: 'object',
    properties: { ...documentFields(rules), ...own },
    ...(required.size > 0 && { required: [...required] }),
  }
}

/** `post_tasks` becomes `PostTasksBody`. */
export function bodySchemaName(operationId: string): string {
  const words = operationId.split('_').filter((word) => word !== '')
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Body`
}
