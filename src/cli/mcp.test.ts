/** `quoin mcp` as clients start it: the official client, over the standard input and output of a process. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { building, type Era, eras, use } from '../../test/mcp-agent.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'

let quoin: TestQuoin
let address: string
let key: string
beforeAll(async () => {
  quoin = await openTestQuoin()
  address = await quoin.quoin.server.listen()
  const requested = { name: 'builder', scopes: [...building], endpoints: ['/mcp'] }
  key = String(objectOf(await quoin.manage('POST', '/users/me/keys', requested)).key)
})
afterAll(() => quoin?.close())

interface Started {
  readonly client: Client
  readonly transport: StdioClientTransport
  readonly complained: () => string
}

function started(mode: Era, token = key, at = address): Started {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['src/main.ts', 'mcp', at],
    env: { QUOIN_TOKEN: token },
    stderr: 'pipe',
  })
  let complained = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    complained += chunk.toString()
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  return { client, transport, complained: () => complained }
}

test.each<[string, readonly string[], Record<string, string>, RegExp]>([
  ['without a key', ['mcp', 'http://127.0.0.1:8080'], {}, /There is no API key in QUOIN_TOKEN/],
  ['without an address', ['mcp'], { QUOIN_TOKEN: 'x' }, /<address>/],
  ['at no address', ['mcp', 'quoin'], { QUOIN_TOKEN: 'x' }, /"quoin" is not an address/],
  [
    'with a password in the address',
    ['mcp', 'http://a:b@localhost'],
    { QUOIN_TOKEN: 'x' },
    /must not contain a password/,
  ],
])('%s it says what is missing', async (_name, words, environment, message) => {
  const { code, printed, complained } = await quoinCommand(words, environment)
  expect({ code, printed }).toEqual({ code: 2, printed: '' })
  expect(complained).toMatch(message)
})

test.each<[string, () => [string, string], RegExp]>([
  ['an unknown key', () => ['unknown', address], /401|access token/],
  ['a server that is gone', () => [key, 'http://127.0.0.1:9'], /No answer from the server/],
])('the client is told of %s', async (_name, input, message) => {
  const { client, transport, complained } = started('legacy', ...input())
  await expect(client.connect(transport)).rejects.toThrow(message)
  expect(complained()).toMatch(message)
  await client.close()
})

describe.each(eras)('%s', (_name, mode) => {
  test('an agent uses the tools and resources of the server, many at once', async () => {
    const { client, transport } = started(mode)
    await client.connect(transport)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['search', 'edit', 'plan']))
    const asked = ['register get', 'send mail', 'search documents'].map((text) =>
      use(client, 'search', { in: 'blocks', text }),
    )
    const found = await Promise.all(asked)
    expect(found.map(({ isError }) => isError)).toEqual([false, false, false])
    expect(found[0]?.text).toContain('on_startup_register_uri_get')
    const { contents } = await client.readResource({ uri: 'quoin://llms.txt' })
    expect(JSON.stringify(contents)).toContain('quoin://docs/agents.md')
    await client.close()
  })

  test('what the server refuses is an answer, and the next message is answered too', async () => {
    const { client, transport } = started(mode)
    await client.connect(transport)
    await expect(client.readResource({ uri: 'quoin://nothing' })).rejects.toThrow('There is no such resource')
    expect((await use(client, 'documents', { storage: 'users', filters: {} })).isError).toBe(true)
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    await client.close()
  })
})

test('it ends when its client ends', async () => {
  const { client, transport } = started('legacy')
  await client.connect(transport)
  const { pid } = transport
  await client.close()
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})
