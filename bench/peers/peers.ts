/**
 * npm run bench:peers: Quoin against what one would take instead, installed from the registry into a temporary folder.
 *
 *   npm run bench:peers -- [--rounds 5] [--seconds 3]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import type { PostgresServer } from '../../test/postgres/postgres-server.ts'
import { takeCore } from '../cores.ts'
import { runLoad } from '../load.ts'
import { describeMachine } from '../machine.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { writeSection } from '../report-file.ts'
import { CONNECTIONS } from '../rows.ts'
import { median } from '../statistics.ts'
import { install } from './install.ts'
import { NODE_RED, startNodeRed } from './node-red.ts'
import { PARSE_SERVER, startParseServer } from './parse-server.ts'
import type { Peer, Work } from './peer.ts'
import { startQuoinPeer } from './quoin.ts'
import { type PeerRates, peersSection } from './report-peers.ts'

const products = [NODE_RED, PARSE_SERVER]
/** Creating comes last: the lists are to be of 10,000 tasks. */
const works: readonly Work[] = ['constant', 'read', 'list', 'create']
const RAMP_SECONDS = 0.25

async function comparePeers(rounds: number, seconds: number): Promise<void> {
  const machine = await describeMachine()
  const core = takeCore()?.server
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-peers-'))
  try {
    console.log(`Installing ${products.join(' and ')} …`)
    await install(folder, products)
    const postgres = await openMeasuredPostgres({ durable: true })
    try {
      const rates = await withPeers(folder, core, postgres, (peers) => measure(peers, rounds, seconds))
      const section = peersSection(rates, products, machine)
      console.log(`\n${section}`)
      await writeSection(section)
    } finally {
      await postgres.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function withPeers<T>(
  folder: string,
  core: number | undefined,
  postgres: PostgresServer,
  work: (peers: readonly Peer[]) => Promise<T>,
): Promise<T> {
  const peers: Peer[] = []
  try {
    const starts = [
      async () => startQuoinPeer(core),
      async () => startNodeRed(folder, core),
      async () => startQuoinPeer(core, await newDatabase(postgres, 'quoin_peer')),
      async () => startParseServer(folder, core, await newDatabase(postgres, 'parse_peer')),
    ]
    for (const start of starts) {
      const peer = await start()
      peers.push(peer)
      console.log(`${peer.name} runs and is filled.`)
    }
    return await work(peers)
  } finally {
    // The last one first, and all of them, whatever one says.
    for (const peer of peers.toReversed()) await peer.close().catch((error) => console.error(error))
  }
}

async function newDatabase(postgres: PostgresServer, name: string): Promise<string> {
  const client = new Client({ connectionString: postgres.url('postgres') })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name}`)
  } finally {
    await client.end()
  }
  return postgres.url(name)
}

/** One untimed turn each, then turns forth and back. */
async function measure(peers: readonly Peer[], rounds: number, seconds: number): Promise<PeerRates> {
  const rates = new Map<Work, Map<string, number>>()
  for (const work of works) {
    console.log(`${work} …`)
    const able = peers.flatMap(({ asks, name, port }) => {
      const next = asks[work]
      return next ? [{ name, port, next, turns: [] as number[] }] : []
    })
    for (let round = -1; round < rounds; round++)
      for (const { name, port, next, turns } of round % 2 === 0 ? able : able.toReversed()) {
        const load = { port, connections: CONNECTIONS, next: next(), seconds, rampSeconds: RAMP_SECONDS }
        const { errors, firstError, rate } = await runLoad(load)
        if (errors > 0) throw new Error(`${name}: ${errors} errors, first: ${firstError}`)
        if (round >= 0) turns.push(rate)
      }
    rates.set(work, new Map(able.map(({ name, turns }) => [name, median(turns)])))
  }
  return rates
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
if (!Number.isInteger(rounds) || rounds < 1 || !(seconds > 0 && seconds <= 600)) {
  console.error('npm run bench:peers -- [--rounds 5] [--seconds 3]')
  process.exitCode = 2
} else {
  // Leaving ends the servers and removes their folders.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  await comparePeers(rounds, seconds)
}
