/** 1,000 active blueprints with two endpoints each: how long the start takes, and finding an endpoint. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import type { LiveTable } from '../../src/flows/live/live-blueprints.ts'
import { endpointTable } from '../../src/http/endpoints/endpoint-table.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin } from '../../src/quoin/quoin.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { idleMegabytes } from './idle-memory.ts'
import { smallBlueprint, smallUri } from './many-blocks.ts'

const BLUEPRINTS = 1_000
const MOST_START_MS = 2_000
const MOST_ROUTING_NS = 1_000
const FINDS = 200_000

const password = 'a password that only the bench has'

export const manyBlueprints: Goal = {
  id: 'blueprints',
  title: `${BLUEPRINTS.toLocaleString('en-US')} active blueprints`,
  goal: 'start in under 2 s, routing under 1 µs',
  measure,
}

async function measure({ core, rounds }: GoalTiming): Promise<Reached> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-many-'))
  try {
    const routing = routingTime(await fill(folder), rounds)
    const starts: number[] = []
    let megabytes = Number.NaN
    for (let round = 0; round < rounds; round++) {
      const candidate = await startQuoin({ core, folder, password, installs: false })
      try {
        starts.push(candidate.startMs)
        if (round === 0) {
          await mustAnswer(candidate)
          megabytes = await idleMegabytes(candidate)
        }
      } finally {
        await candidate.close()
      }
    }
    const start = median(starts)
    const found = `start ${milliseconds(start)}, routing ${Math.round(routing)} ns, idle memory ${Math.round(megabytes)} MB`
    return { found, met: start < MOST_START_MS && routing < MOST_ROUTING_NS }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** In this process and without waiting for the disk; by requests it would take minutes. */
async function fill(folder: string): Promise<LiveTable> {
  const options = readOptions({
    QUOIN_DATA: folder,
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: password,
    QUOIN_LOG_LEVEL: 'silent',
  })
  const surroundings = { clock: Date.now, random: randomFillSync, synchronous: 'OFF', offline: true } as const
  const quoin = await openQuoin(options, surroundings)
  try {
    for (let number = 0; number < BLUEPRINTS; number++)
      await installBlueprint(quoin.flows, smallBlueprint(number), { guid: '', username: 'bench' })
    return quoin.flows.live.table()
  } finally {
    await quoin.close()
  }
}

/** Nanoseconds to find an endpoint by method and path, the median of the rounds. */
function routingTime(table: LiveTable, rounds: number): number {
  const find = endpointTable(table)
  const paths = Array.from({ length: BLUEPRINTS }, (_, number) => [
    `/${smallUri(number)}`,
    `/${smallUri(number)}/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b`,
  ]).flat()
  for (const path of paths) if (!find('GET', path)) throw new Error(`${path} is not found.`)
  const times: number[] = []
  // One round more than is counted: the first one compiles.
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    let found = 0
    for (let time = 0; time < FINDS; time++) if (find('GET', paths[time % paths.length] ?? '')) found++
    const spent = performance.now() - began
    if (found !== FINDS) throw new Error(`${FINDS - found} paths were not found.`)
    if (round > 0) times.push((spent * 1_000_000) / FINDS)
  }
  return median(times)
}

async function mustAnswer({ base }: Candidate): Promise<void> {
  for (const number of [0, BLUEPRINTS - 1]) {
    const reply = await fetch(`${base}/api/v1/${smallUri(number)}`)
    if (reply.status !== 200) throw new Error(`The blueprint ${number} answers ${reply.status}.`)
  }
}
