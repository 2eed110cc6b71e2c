import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isJsonObject } from '../shared/json.ts'
import { command } from './command.ts'
import { bodyOf } from './management.ts'
import { serverAddress } from './open-management.ts'
import { UsageError } from './read-words.ts'

/** Bytes of one message on the standard input; the server takes less. */
const MOST_BYTES = 4 * 1024 * 1024
/** Of JSON-RPC: the server has not answered. */
const INTERNAL_ERROR = -32_603

export const mcp = command({
  name: 'mcp',
  operands: [{ name: '<address>' }],
  flags: {},
  summary: 'Connects an agent that starts programs to /mcp of a running server.',
  about: `For clients of the Model Context Protocol that know no addresses. It reads messages from the standard input, sends them to the
server with the API key in QUOIN_TOKEN, and writes the answers to the standard output. It ends with its standard input.`,
  async run({ positionals: [typed = ''] }, terminal) {
    const { token } = terminal.options()
    const address = serverAddress(typed)
    if (token === '')
      throw new UsageError(
        `There is no API key in QUOIN_TOKEN: make one in your account at ${address}/studio.`,
      )
    const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/client'),
    ])
    // A redirect could send the key to another server.
    const requestInit: RequestInit = { headers: { authorization: `Bearer ${token}` }, redirect: 'error' }
    const agent = new StdioServerTransport(undefined, undefined, { maxBufferSize: MOST_BYTES })
    const server = new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit })
    await handOver(agent, server, terminal.complain)
    return 0
  },
})

/** Hands each message over to the other side until the agent has closed its side. */
async function handOver(agent: Transport, server: Transport, complain: (text: string) => void) {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  agent.onclose = resolve
  agent.onerror = ({ message }) => complain(message)
  server.onmessage = (message) => {
    followVersion(server, message)
    agent.send(message).catch(() => undefined)
  }
  agent.onmessage = (message) => {
    server.send(message).catch((error: unknown) => {
      const reason = reasonOf(error)
      complain(reason)
      if ('method' in message && 'id' in message)
        agent.send(refusal(message.id, reason)).catch(() => undefined)
    })
  }
  await server.start()
  await agent.start()
  await closed
  await server.close()
}

/** The revision that both agreed on is a header of all later requests; one since 2026 names it in each message. */
function followVersion(server: Transport, message: JSONRPCMessage): void {
  if (!('result' in message)) return
  const { protocolVersion } = message.result
  if (typeof protocolVersion === 'string') server.setProtocolVersion?.(protocolVersion)
}

function refusal(id: string | number, message: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } }
}

/** What the server said, else why it was not reached. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const data: unknown = Reflect.get(error, 'data')
  if (isJsonObject(data) && typeof data.text === 'string') return saidIn(Number(data.status), data.text)
  return error.cause instanceof Error ? `No answer from the server: ${error.cause.message}.` : error.message
}

function saidIn(status: number, text: string): string {
  try {
    return JSON.stringify(bodyOf(status, text))
  } catch (refused) {
    return refused instanceof Error ? refused.message : String(refused)
  }
}
