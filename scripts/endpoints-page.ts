import type { ApiDocument } from '../src/http/docs/open-api-document.ts'
import { errorSchema, metaSchema } from '../src/shared/api/record-schemas.ts'
import { searchSchema } from '../src/shared/api/search.ts'
import { apiDocument } from './api-document.ts'
import { asApiSchema, type Endpoint, endpointSection, fieldTable } from './endpoint-section.ts'

/** Every management endpoint, by what it is about, from the document that `/api/v1/openapi.json` answers. */
export async function endpointsPage(): Promise<string> {
  const document = await apiDocument()
  const groups = endpointsByTag(document)
  const count = groups.reduce((sum, [, endpoints]) => sum + endpoints.length, 0)
  const sections = groups.map(([tag, endpoints]) => {
    const parts = endpoints.map((endpoint) => endpointSection(endpoint, document))
    return `## ${tag}\n\n${parts.join('\n')}`
  })
  return `${intro(count, document)}\n${sections.join('\n')}`
}

/** By tag in the order of first use; what is not under /api/v1 comes after what is. */
function endpointsByTag({ paths }: ApiDocument): [string, Endpoint[]][] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Endpoint => ({ path, method, operation })),
  )
  const isApi = ({ path }: Endpoint) => path.startsWith('/api/v1/')
  const tags = new Map<string, Endpoint[]>()
  for (const endpoint of [...all.filter(isApi), ...all.filter((one) => !isApi(one))]) {
    const tag = endpoint.operation.tags?.[0] ?? 'Other'
    tags.set(tag, [...(tags.get(tag) ?? []), endpoint])
  }
  return [...tags]
}

function intro(count: number, document: ApiDocument): string {
  const fields = (schema: object) => fieldTable(asApiSchema(schema), document)
  return `# Endpoints

<!-- Made by npm run docs from the definitions. Do not edit. -->

${count} management endpoints. The OpenAPI document of a cluster, \`GET /api/v1/openapi.json\`, also describes the endpoints
of its blueprints; \`/docs\` shows it as a page. Health checks and metrics are in [operations.md](operations.md).

## Common to all endpoints

**Who may call.** *public*: any caller, within the rate limit. *signed in*: any user. *needs \`x\`*: a user who holds the scope
\`x\`, directly or through a group. The token of \`POST /api/v1/auth/signin\` goes into the header \`Authorization: Bearer <token>\`.

**Records.** Every record carries \`_meta\`, which only the cluster writes:

${fields(metaSchema)}
**Errors.** [errors.md](errors.md) explains the codes. Their body:

${fields(errorSchema)}
### Searching

Every search accepts this body; the body and all its fields are optional. The reply is a list of records, or \`{ "count": n }\`
with \`count: true\`. The header \`x-total-count\` is the number of all matches. Send \`x-next-cursor\` as \`after\` for the next
page; it is absent on the last one.

${fields(searchSchema)}`
}
