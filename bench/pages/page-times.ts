/** How long pages take, asked one at a time, each after a write: no reply is remembered from before. */
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Candidate } from '../candidates.ts'
import { Latencies } from '../latencies.ts'
import { word } from '../sample-articles.ts'
import { statusName } from '../sample-tasks.ts'
import { rowBody } from './sample-rows.ts'

export const PAGE = 'bench-articles'

export interface PageTimes {
  readonly title: string
  readonly firstByte: Latencies
  readonly whole: Latencies
  /** Bytes of the largest page. */
  readonly bytes: number
}

interface Kind {
  readonly title: string
  /** Parameters of the address; another one for each number. */
  readonly query: (number: number) => Readonly<Record<string, string>>
  /** Rows that the page must show at least. */
  readonly rows: number
}

/** By rank of their words: the first ten are in half of the documents and more, the later ones in a handful. */
const kinds: readonly Kind[] = [
  { title: 'first page, newest first', query: () => ({}), rows: 50 },
  { title: 'sorted, first page', query: () => ({ sort: '-number' }), rows: 50 },
  {
    title: 'sorted, pages 151 to 200',
    query: (number) => ({ sort: 'number', page: String(200 - (number % 50)) }),
    rows: 50,
  },
  {
    title: 'filtered and sorted',
    query: (number) => ({ sort: 'number', 'is.stage': statusName(number) }),
    rows: 50,
  },
  {
    title: 'searched, a frequent word, sorted',
    query: (number) => ({ sort: 'number', q: word(number % 10) }),
    rows: 50,
  },
  {
    title: 'searched, a frequent word, sorted, page 100',
    query: (number) => ({ sort: 'number', q: word(number % 10), page: '100' }),
    rows: 50,
  },
  {
    title: 'searched, a rare word, sorted',
    query: (number) => ({ sort: 'number', q: word(3_000 + number * 7) }),
    rows: 1,
  },
]
const ASKED = 20
const PATIENCE_MS = 120_000

/** `documents`: how many there are before. */
export async function measurePages(
  server: Candidate,
  documents: number,
  rounds: number,
): Promise<readonly PageTimes[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let added = 0
  const write = async () => {
    const reply = await fetch(`${server.base}/api/v1/bench/pages/articles`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
      body: rowBody(documents + added++, documents),
    })
    if (reply.status !== 201) throw new Error(`A write was answered with ${reply.status}.`)
    await reply.arrayBuffer()
  }
  try {
    const all: PageTimes[] = []
    for (const kind of kinds) {
      const [firstByte, whole] = [new Latencies(), new Latencies()]
      let bytes = 0
      for (let round = -1; round < rounds; round++)
        for (let number = 0; number < ASKED; number++) {
          await write()
          const got = await getPage(agent, server, addressOf(kind, (round + 1) * ASKED + number))
          const rows = got.html.split('<tr').length - 2
          if (rows < kind.rows) throw new Error(`${kind.title}: ${rows} rows and not ${kind.rows}.`)
          bytes = Math.max(bytes, got.bytes)
          // The first round compiles and reads what is read once.
          if (round < 0) continue
          firstByte.note(got.firstByte)
          whole.note(got.whole)
        }
      console.log(`  ${kind.title}: first byte p50 ${firstByte.within(0.5).toFixed(1)} ms`)
      all.push({ title: kind.title, firstByte, whole, bytes })
    }
    return all
  } finally {
    agent.destroy()
  }
}

/** The first search of a process reads all words; this waits until that is done, and says how long it took. */
export async function awaitWords(server: Candidate): Promise<{ first: number; ready: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const began = performance.now()
  try {
    const first = (await getPage(agent, server, `/${PAGE}?articles.q=${word(0)}`)).whole
    // Another word each time, and several of them: one that is fast may have been rare, or remembered.
    for (let number = 1, fast = 0; fast < 5 && performance.now() - began < PATIENCE_MS; number++) {
      const { whole } = await getPage(agent, server, `/${PAGE}?articles.q=${word(number)}`)
      fast = whole < first / 5 ? fast + 1 : 0
    }
    return { first, ready: performance.now() - began }
  } finally {
    agent.destroy()
  }
}

function addressOf({ query }: Kind, number: number): string {
  const parameters = Object.entries(query(number)).map(([name, value]) => [`articles.${name}`, value])
  return `/${PAGE}?${new URLSearchParams(parameters)}`
}

interface Got {
  readonly html: string
  readonly bytes: number
  /** Milliseconds from the request to the head of the reply, and to its end. */
  readonly firstByte: number
  readonly whole: number
}

function getPage(agent: Agent, { port }: Candidate, path: string): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const began = performance.now()
  const sent = request({ host: '127.0.0.1', port, path, agent, headers: { accept: 'text/html' } })
  sent.once('error', reject)
  sent.once('response', (reply: IncomingMessage) => {
    const firstByte = performance.now() - began
    const pieces: Buffer[] = []
    reply.on('data', (piece: Buffer) => pieces.push(piece))
    reply.once('error', reject)
    reply.once('end', () => {
      const whole = performance.now() - began
      const body = Buffer.concat(pieces)
      if (reply.statusCode === 200) resolve({ html: body.toString(), bytes: body.length, firstByte, whole })
      else reject(new Error(`${path} was answered with ${reply.statusCode}.`))
    })
  })
  sent.end()
  return promise
}
