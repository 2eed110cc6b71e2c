/**
 * A small HTTP load balancer, as a cluster stands behind one: each request goes to the next node that accepts
 * connections. A node that refuses is left out for a second. A request whose connection is lost after it was sent is
 * answered with 503 and never sent again: it may have been a write that was done.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface RoundRobinProxy {
  readonly address: string
  /** How many requests were answered here because the connection to their node was lost, and because no node was there. */
  readonly counts: { lost: number; refused: number }
  close(): Promise<void>
}

/** How long a node that refused is left out. */
const SKIP_MS = 1_000

/** `nodes`: addresses such as http://127.0.0.1:8080, read again at each request, since nodes come and go. */
export async function openRoundRobinProxy(nodes: () => readonly string[]): Promise<RoundRobinProxy> {
  const agent = new Agent({ keepAlive: true })
  const skipped = new Map<string, number>()
  const counts = { lost: 0, refused: 0 }
  let turn = 0

  /** A node that is left out comes last: when all of them are, asking is better than not. */
  function inTurn(): string[] {
    const all = nodes()
    const first = turn++ % Math.max(1, all.length)
    const now = performance.now()
    const isSkipped = (node: string) => (skipped.get(node) ?? 0) > now
    const turned = [...all.slice(first), ...all.slice(0, first)]
    return [...turned.filter((node) => !isSkipped(node)), ...turned.filter(isSkipped)]
  }

  const server = createServer(async (incoming, outgoing) => {
    // Whole before it is sent, so that a node that refuses has not taken a part of it.
    const body = await buffer(incoming).catch(() => undefined)
    if (body === undefined) return void outgoing.destroy()
    for (const node of inTurn()) {
      const end = await forward(agent, node, { incoming, body, outgoing })
      if (end === 'answered') return
      if (end === 'lost') {
        counts.lost += 1
        return unavailable(outgoing, 'The connection to the node was lost.')
      }
      skipped.set(node, performance.now() + SKIP_MS)
    }
    counts.refused += 1
    unavailable(outgoing, 'No node accepts connections.')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port.')
  return {
    address: `http://127.0.0.1:${address.port}`,
    counts,
    async close() {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Passing {
  readonly incoming: IncomingMessage
  readonly body: Buffer
  readonly outgoing: ServerResponse
}

/** refused: nothing of the request was sent. lost: it may have been done. */
function forward(
  agent: Agent,
  node: string,
  { incoming, body, outgoing }: Passing,
): Promise<'answered' | 'refused' | 'lost'> {
  return new Promise((resolve) => {
    let connected = false
    const { connection: _hop, 'transfer-encoding': _chunked, ...headers } = incoming.headers
    const sent = request(`${node}${incoming.url}`, {
      agent,
      method: incoming.method ?? 'GET',
      headers: { ...headers, 'content-length': body.length },
    })
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (connected = true))
      else connected = true
    })
    sent.on('error', () => resolve(connected ? 'lost' : 'refused'))
    sent.once('response', async (reply) => {
      const received = await buffer(reply).catch(() => undefined)
      if (received === undefined) return resolve('lost')
      const {
        connection: _close,
        'keep-alive': _alive,
        'transfer-encoding': _parts,
        ...replied
      } = reply.headers
      outgoing.writeHead(reply.statusCode ?? 503, { ...replied, 'content-length': received.length })
      outgoing.end(received)
      resolve('answered')
    })
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) sent.destroy()
    })
    sent.end(body)
  })
}

function unavailable(outgoing: ServerResponse, message: string): void {
  outgoing.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
  outgoing.end(JSON.stringify({ error: message }))
}
