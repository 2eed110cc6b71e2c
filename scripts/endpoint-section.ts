import { withDescribedDefaults } from '../src/http/docs/endpoint-descriptions.ts'
import type {
  ApiDocument,
  ApiOperation,
  ApiParameter,
  ApiResponse,
  ApiSchema,
} from '../src/http/docs/open-api-document.ts'
import { type FieldRow, fieldRows, typeOf } from '../src/http/docs/schema-table.ts'
import { countSchema, searchSchema } from '../src/shared/api/search.ts'
import { code, prose, table } from './markdown.ts'

/** One operation and where it is. */
export interface Endpoint {
  readonly path: string
  /** Lower case. */
  readonly method: string
  readonly operation: ApiOperation
}

const needs = /(?:^|\n\n)Needs the scope `([^`]+)`\.$/

/** An endpoint with everything that may be sent to it and come back. What all share is said once, on top of the page. */
export function endpointSection({ path, method, operation }: Endpoint, document: ApiDocument): string {
  const about = operation.description ?? ''
  const scope = needs.exec(about)?.[1]
  const who = operation.security?.length ? 'signed in' : 'public'
  const description = about.replace(needs, '')
  const replies = Object.entries(operation.responses)
  const good = replies.filter(([status]) => /^[23]/.test(status))
  return [
    `### ${prose(operation.summary ?? path)}\n`,
    `${code(`${method.toUpperCase()} ${path}`)} · ${scope === undefined ? who : `needs ${code(scope)}`}\n`,
    description === '' ? '' : `${prose(description)}\n`,
    table('Path and query', ['Name', 'In', 'Type', 'Meaning'], parameterRows(operation, document)),
    bodyPart(operation, document),
    ...good.map(([status, reply]) => replyPart(status, reply, document)),
    errorsLine(replies.filter((reply) => !good.includes(reply))),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function parameterRows({ parameters = [] }: ApiOperation, document: ApiDocument): string[][] {
  return parameters.map((parameter: ApiParameter) => {
    const schema = parameter.schema ?? {}
    // As a field, so that its limits are said as those of a body are.
    const field = { ...schema, description: parameter.description ?? schema.description ?? '' }
    const required = parameter.required ? [parameter.name] : []
    const [row] = fieldRows({ properties: { [parameter.name]: field }, required }, document)
    const [name = '', type = '', meaning = ''] = row ? fieldCells(row) : []
    return [name, parameter.in, type, meaning]
  })
}

function bodyPart({ requestBody }: ApiOperation, document: ApiDocument): string {
  const [[type, content] = []] = Object.entries(requestBody?.content ?? {})
  if (type === undefined) return ''
  const schema = content?.schema ?? {}
  if (hasFieldsOf(searchSchema, schema, document)) return '**Body**: a [search](#searching).\n'
  const title = type === 'application/json' ? '' : ` ${code(type)}`
  return `**Body**${title}: ${kindOf(schema, document)}\n\n${fieldTable(schema, document)}`
    .trimEnd()
    .concat('\n')
}

function replyPart(status: string, { description, content }: ApiResponse, document: ApiDocument): string {
  const [[type, { schema = {} } = {}] = []] = Object.entries(content ?? {})
  const title = type === undefined || type === 'application/json' ? '' : ` ${code(type)}`
  const [records, count] = schema.anyOf ?? []
  if (records && count && hasFieldsOf(countSchema, count, document))
    return `**${status}**: the [found](#searching) records.\n\n${fieldTable(records, document)}`
  const words = description === 'Default Response' ? '' : ` ${prose(description)}`
  return `**${status}**${title}: ${kindOf(schema, document)}${words}\n\n${fieldTable(schema, document)}`
    .trimEnd()
    .concat('\n')
}

/** Only of what the page does not say already. */
function kindOf(schema: ApiSchema, document: ApiDocument): string {
  const words = schema.description === undefined ? '' : ` ${schema.description}`
  return prose(`${typeOf(schema, document)}.${words}`)
}

/** The fields of a schema. Those of `_meta` are the same everywhere. */
export function fieldTable(schema: ApiSchema, document: ApiDocument): string {
  const rows = fieldRows(schema, document).filter(({ name }) => !/(?:^|\.)_meta\./.test(name))
  return table('', ['Field', 'Type', 'Meaning'], rows.map(fieldCells))
}

function fieldCells({ name, type, required, description }: FieldRow): string[] {
  return [code(name), prose(`${type}${required ? ', required' : ''}`), prose(description)]
}

/** `400` `INVALID_BODY`, …: what a code means is in the table of errors. */
function errorsLine(replies: readonly (readonly [string, ApiResponse])[]): string {
  const parts = replies.map(([status, { description }]) => {
    const codes = [...description.matchAll(/^`([A-Z_]+)`/gm)].map(([, name]) => code(String(name)))
    return `${status} ${codes.join(', ')}`.trimEnd()
  })
  return parts.length === 0 ? '' : `**Errors**: ${parts.join(' · ')}\n`
}

/** Whether the document's schema says the same as that of the routes, whatever order its keys are in. */
function hasFieldsOf(known: object, schema: ApiSchema, document: ApiDocument): boolean {
  const rows = fieldRows(asApiSchema(known), document)
  return JSON.stringify(fieldRows(schema, document)) === JSON.stringify(rows)
}

/** A schema of the routes, as the document has it. */
export function asApiSchema(schema: object): ApiSchema {
  return JSON.parse(JSON.stringify(withDescribedDefaults(schema)))
}
