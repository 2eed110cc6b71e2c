import { type ApiDocument, type ApiSchema, resolved } from './open-api-document.ts'

/** Fields of fields of fields: deeper ones are left to the JSON document, and a schema that holds itself comes to an end. */
const MAX_DEPTH = 4

/** One field of a schema, with a dotted name. */
export interface FieldRow {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
}

/** Where the page describes `_meta`, once. */
export const META_ANCHOR = 'record-meta'

/**
 * A schema as a table of its fields, nested ones with dotted names; a line of text where there are no fields. The fields of
 * `_meta`, which are the same in every record, were a fifth of the page.
 */
export function schemaTable(schema: ApiSchema, document: ApiDocument): Html {
  const rows = fieldRows(schema, document)
  const note = schema.description ?? resolved(schema, document).description
  const kind = html`<p class="kind">${typeOf(schema, document)}${note === undefined ? '' : html`: ${inlineCode(note)}`}</p>`
  if (rows.length === 0) return kind
  const names = new Set(rows.map(({ name }) => name))
  const hasEnvelope = (name: string) => /(?:^|\.)_meta$/.test(name) && names.has(`${name}.update_hash`)
  const shown = rows.filter(({ name }) => !hasEnvelope(name.slice(0, name.lastIndexOf('.'))))
  const cells = shown.map(({ name, type, required, description }) => [
    html`<code>${name}</code>${required ? html` <em>required</em>` : undefined}`,
    html`${type}`,
    hasEnvelope(name)
      ? html`<a href="#${META_ANCHOR}">Guid, times and hash of the record.</a>`
      : inlineCode(description),
  ])
  return html`${kind}${docsTable(['Field', 'Type', 'Meaning'], cells)}`
}

/** All fields of a schema, the inner ones after the one they are in. */
export function fieldRows(input: ApiSchema, document: ApiDocument, prefix = '', depth = 0): FieldRow[] {
  const schema = resolved(input, document)
  if (depth > MAX_DEPTH) return []
  if (schema.items) return fieldRows(schema.items, document, prefix, depth)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.flatMap((choice) => fieldRows(choice, document, prefix, depth))
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const inner = resolved(field, document)
    return [
      {
        name: path,
        type: typeOf(field, document),
        required: schema.required?.includes(name) ?? false,
        description: [field.description ?? inner.description ?? '', ...limits(inner)]
          .filter(Boolean)
          .join(' '),
      },
      ...fieldRows(field, document, inner.items ? `${path}[].` : `${path}.`, depth + 1),
    ]
  })
}

/** `string`, `array of object`, `"asc" or "desc"`. */
export function typeOf(input: ApiSchema, document: ApiDocument, depth = 0): string {
  const schema = resolved(input, document)
  if (depth > MAX_DEPTH) return 'any'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, document, depth + 1)))].join(' or ')
  if (schema.items) return `array of ${typeOf(schema.items, document, depth + 1)}`
  const { type } = schema
  const name = type === undefined ? 'any' : typeof type === 'string' ? type : type.join(' or ')
  return schema.format === undefined ? name : `${name} (${schema.format})`
}

function limits(schema: ApiSchema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern } = schema
  const range =
    minimum !== undefined && maximum !== undefined
      ? [`From ${minimum} to ${maximum}.`]
      : minimum !== undefined
        ? [`At least ${minimum}.`]
        : maximum !== undefined
          ? [`At most ${maximum}.`]
          : []
  return [
    ...range,
    // At least one character is expected of a required text.
    ...(minLength === undefined || minLength === 1 ? [] : [`At least ${minLength} characters.`]),
    ...(maxLength === undefined ? [] : [`At most ${maxLength} characters.`]),
    ...(maxItems === undefined ? [] : [`At most ${maxItems} items.`]),
    ...(pattern === undefined ? [] : [`Pattern: \`${pattern}\`.`]),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
  ]
}

/** HTML that is safe to send: made by {@link html} only. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | readonly Part[]

/** Template tag that escapes everything put into it, unless it is HTML already. Lists are joined, undefined is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + rendered(parts[i - 1]) + string))
}

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(rendered).join('')
  return escaped(String(part))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

/** Text with `code` in backticks and paragraphs at empty lines, which is all the markup our descriptions use. */
export function prose(text: string): Html {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => html`<p>${inlineCode(paragraph)}</p>`)
  return html`${paragraphs}`
}

export function inlineCode(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

/** A table whose first cells are the headings of their rows. The last column is left out if it is empty in every row. */
export function docsTable(columns: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const shown = rows.every((row) => row.at(-1)?.text === '') ? columns.slice(0, -1) : columns
  return html`
    <table>
      <thead><tr>${shown.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map(
        ([heading, ...cells]) => html`<tr>
          <th scope="row">${heading}</th>
          ${cells.slice(0, shown.length - 1).map((cell) => html`<td>${cell}</td>`)}
        </tr>`,
      )}</tbody>
    </table>`
}
