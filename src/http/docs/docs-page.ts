import { metaSchema } from '../../shared/api/record-schemas.ts'
import { type Html, html, prose } from './html.ts'
import type { ApiDocument } from './open-api-document.ts'
import { operationSection, type PlacedOperation } from './operation-section.ts'
import { META_ANCHOR, schemaTable } from './schema-table.ts'

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
