import { metaSchema } from '../../shared/api/record-schemas.ts'
import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  type ApiResponse,
  type ApiSchema,
  resolved,
} from './open-api-document.ts'
import {
  docsTable,
  type Html,
  html,
  inlineCode,
  META_ANCHOR,
  prose,
  schemaTable,
  typeOf,
} from './schema-table.ts'

interface Group {
  readonly name: string
  readonly description: string | undefined
  readonly anchor: string
  readonly operations: readonly PlacedOperation[]
}

/**
 * The API as one page that needs no script: a list of all operations, then each with its parameters, body, replies and a
 * command to try it.
 * The same text for every address that the server is reached by, so that it can be kept.
 */
export function docsPage(document: ApiDocument): string {
  const groups = groupsOf(document)
  const { title, version, description } = document.info
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} API</title>
  <link rel="stylesheet" href="/docs/docs-page.css">
</head>
<body>
  <a class="skip" href="#content">Skip to the content</a>
  <nav aria-label="Operations">
    <p class="title"><a href="#content">${title} API</a> <small>${version}</small></p>
    ${groups.map(groupLinks)}
  </nav>
  <main id="content">
    <header>
      <h1>${title} API <small>${version}</small></h1>
      ${description === undefined ? undefined : prose(description)}
      ${prose(
        'Sign in with `POST /api/v1/auth/signin` and send the `access_token` as `Authorization: Bearer …`. The examples use the shell variables `QUOIN` (address of this server, such as `http://127.0.0.1:8080`) and `TOKEN`.',
      )}
      ${prose(
        'Endpoints of blueprints that require a scope are listed only if the request carries your token. The studio lists all endpoints you can call and downloads them as an OpenAPI document.',
      )}
      <p><a href="/api/v1/openapi.json">openapi.json</a></p>
    </header>
    ${groups.map((group) => groupSection(group, document))}
    <section id="${META_ANCHOR}">
      <h2>Records</h2>
      ${prose('Every record has a field `_meta`. Quoin writes it; clients cannot set it.')}
      ${schemaTable(metaSchema, document)}
    </section>
  </main>
</body>
</html>
`.text
}

function groupLinks(group: Group): Html {
  return html`
    <h2><a href="#${group.anchor}">${group.name}</a></h2>
    <ul>${group.operations.map(
      ({ anchor, method, path, operation }) =>
        html`<li><a href="#${anchor}"><span class="method ${method}">${method.toUpperCase()}</span> ${operation.summary ?? path}</a></li>`,
    )}</ul>`
}

function groupSection(group: Group, document: ApiDocument): Html {
  return html`
    <section id="${group.anchor}">
      <h2>${group.name}</h2>
      ${group.description === undefined ? undefined : prose(group.description)}
      ${group.operations.map((placed) => operationSection(placed, document))}
    </section>`
}

/** By tag, in the order of the document's tags and then of first use. */
function groupsOf(document: ApiDocument): readonly Group[] {
  const described = new Map((document.tags ?? []).map((tag) => [tag.name, tag.description]))
  const byTag = new Map<string, PlacedOperation[]>([...described.keys()].map((name) => [name, []]))
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item)) {
      const tag = operation.tags?.[0] ?? 'Other'
      const operations = byTag.get(tag) ?? []
      operations.push({ path, method, operation, anchor: anchorOf(`${method} ${path}`) })
      byTag.set(tag, operations)
    }
  return [...byTag]
    .filter(([, operations]) => operations.length > 0)
    .map(([name, operations]) => ({
      name,
      description: described.get(name),
      anchor: anchorOf(`tag ${name}`),
      operations,
    }))
}

/** Letters and digits stay; every other character becomes its code, so that two paths never share an anchor. */
function anchorOf(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, (character) =>
    ' /_'.includes(character) ? '-' : `.${character.charCodeAt(0).toString(16)}.`,
  )
}

const MAX_DEPTH = 4

/** A command to paste into a shell: the server's address in `$QUOIN`, the token in `$TOKEN`, a body with every required field. */
export function curlExample(
  path: string,
  method: string,
  operation: ApiOperation,
  document: ApiDocument,
): string {
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${address(path)}`]
  if (operation.security?.length) lines.push('-H "Authorization: Bearer $TOKEN"')
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {})
  if (type === 'application/json' && content?.schema) {
    const body = exampleOf(content.schema, document, 0)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`)
  } else if (type === 'multipart/form-data') lines.push('-F file=@picture.png')
  return lines.join(' \\\n  ')
}

/** In double quotes the shell puts in the variable, and reads four characters in its own way. */
function address(path: string): string {
  return `"$QUOIN${path.replace(/["$`\\]/g, '\\$&')}"`
}

/** In single quotes the shell changes nothing; a single quote ends them, so it is put in between. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function exampleOf(input: ApiSchema, document: ApiDocument, depth: number): unknown {
  const schema = resolved(input, document)
  if (depth > MAX_DEPTH) return {}
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice) return exampleOf(choice, document, depth + 1)
  if (schema.properties || schema.type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([name]) => schema.required?.includes(name))
        .map(([name, field]) => [name, exampleOf(field, document, depth + 1)]),
    )
  if (schema.items) return [exampleOf(schema.items, document, depth + 1)]
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return '…'
}

/** One operation, where it is found and under which anchor. */
export interface PlacedOperation {
  readonly path: string
  /** Lower case. */
  readonly method: string
  readonly operation: ApiOperation
  readonly anchor: string
}

function operationSection(placed: PlacedOperation, document: ApiDocument): Html {
  const { path, method, operation, anchor } = placed
  const responses = Object.entries(operation.responses)
  const isGood = ([status]: readonly [string, ApiResponse]) => status.startsWith('2')
  return html`
    <article id="${anchor}">
      <h3><a href="#${anchor}">${operation.summary ?? path}</a></h3>
      <p class="path"><span class="method ${methodClass(method)}">${method.toUpperCase()}</span> <code>${pathParts(path)}</code>
        <span class="who">${operation.security?.length ? 'needs a token' : 'public'}</span></p>
      ${operation.description === undefined ? undefined : prose(operation.description)}
      ${parameterTable(operation.parameters ?? [], document)}
      ${bodySection(operation, document)}
      ${responses.filter(isGood).map((response) => responseSection(response, document))}
      ${errorTable(responses.filter((response) => !isGood(response)))}
      <h4>Example</h4>
      <pre tabindex="0"><code>${curlExample(path, method, operation, document)}</code></pre>
    </article>`
}

const methods = new Set(['get', 'post', 'put', 'delete'])

function methodClass(method: string): string {
  return methods.has(method) ? method : 'other'
}

/** The parameters of a path stand out, and a long path may break before each slash. */
function pathParts(path: string): readonly Html[] {
  return path
    .split(/(\{[^{}]*\})/)
    .map((part) =>
      part.startsWith('{')
        ? html`<var>${part}</var>`
        : html`${part.split('/').map((step, i) => (i === 0 ? html`${step}` : html`<wbr>/${step}`))}`,
    )
}

function parameterTable(parameters: readonly ApiParameter[], document: ApiDocument): Html | undefined {
  if (parameters.length === 0) return undefined
  const cells = parameters.map((parameter) => [
    html`<code>${parameter.name}</code>${parameter.required ? html` <em>required</em>` : undefined}`,
    html`${parameter.in}`,
    html`${typeOf(parameter.schema ?? {}, document)}`,
    inlineCode(parameter.description ?? parameter.schema?.description ?? ''),
  ])
  return html`
    <h4>Parameters</h4>
    ${docsTable(['Name', 'In', 'Type', 'Meaning'], cells)}`
}

function bodySection(operation: ApiOperation, document: ApiDocument): Html | undefined {
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {})
  if (type === undefined) return undefined
  return html`<h4>Body <small>${type}</small></h4>${schemaTable(content?.schema ?? {}, document)}`
}

function responseSection([status, response]: readonly [string, ApiResponse], document: ApiDocument): Html {
  const [content] = Object.values(response.content ?? {})
  // The table says what the schema is, so it is not said before it too.
  const { description: _said, ...schema } = content?.schema ?? {}
  const words = response.description === 'The reply.' ? undefined : prose(response.description)
  return html`<h4>Reply <small>${status}</small></h4>${words}${content?.schema ? schemaTable(schema, document) : undefined}`
}

function errorTable(errors: readonly (readonly [string, ApiResponse])[]): Html | undefined {
  if (errors.length === 0) return undefined
  return html`
    <details>
      <summary>Errors <small>${errors.map(([status]) => status).join(', ')}</small></summary>
      ${docsTable(
        ['Status', 'When'],
        errors.map(([status, response]) => [html`${status}`, prose(response.description)]),
      )}
    </details>`
}
