import type { ApiDocument } from '../src/http/docs/open-api-document.ts'
import { errorSchema } from '../src/shared/api/error.ts'
import { metaSchema } from '../src/shared/api/meta.ts'
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

${count} management endpoints. What blueprints register is in the OpenAPI document of the cluster, which holds all of this
too: \`GET /api/v1/openapi.json\`, and \`/docs\` as a page. Probes and metrics are in [operations.md](operations.md).

## What all share

**Who may call.** *public*: everybody, within the rate limit. *signed in*: any user. *needs \`x\`*: a user who holds the scope
\`x\`, by a group or directly. The token of \`POST /api/v1/auth/signin\` goes into the header \`Authorization: Bearer <token>\`.

**Records.** Every record carries \`_meta\`, which only the cluster writes:

${fields(metaSchema)}
**Errors.** What they mean is in [errors.md](errors.md). Their body:

${fields(errorSchema)}
### Searching

Every search takes this body; all of it is optional, also the body itself. The reply is a list of records, or \`{ "count": n }\`
with \`count: true\`. Its header \`x-total-count\` says how many there are in all; \`x-next-cursor\` goes into \`after\` for the
next page and is absent on the last one.

${fields(searchSchema)}`
}
