/** An agent at `/mcp`: the official client, in both eras of the protocol. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../src/shared/json.ts'
import { draftScopes } from '../src/shared/management-scopes.ts'

/** Scopes of a key that builds drafts. */
export const building = draftScopes

export type Era = 'legacy' | { readonly pin: string }

export const eras = [
  ['the revision of 2026-07-28', { pin: '2026-07-28' }],
  ['streamable HTTP before it', 'legacy'],
] as const

export async function connectAgent(address: URL, key: string, mode: Era = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
  return client
}

export interface AgentAnswer {
  readonly isError: boolean
  readonly text: string
  /** What is between the marks, where it is whole. */
  readonly data: JsonObject
}

export async function use(client: Client, name: string, args: JsonObject): Promise<AgentAnswer> {
  const { content, isError = false } = await client.callTool({ name, arguments: args })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  const [, inside = ''] = /<data \w+>\n([\s\S]*)\n<\/data \w+>/.exec(text) ?? []
  let data: unknown
  try {
    data = JSON.parse(inside)
  } catch {}
  return { isError, text, data: isJsonObject(data) ? data : {} }
}
