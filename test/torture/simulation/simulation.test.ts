/** The short form of `npm run torture -- --only simulation`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { brokenNodes, brokenWriters } from './broken-on-purpose.ts'
import {
  type Interleavings,
  openSimulations,
  runInterleavings,
  type Simulations,
} from './run-interleavings.ts'
import { onAllCores } from './simulation-threads.ts'

let simulations: Simulations
beforeAll(async () => {
  simulations = await openSimulations()
})
afterAll(() => simulations.close())

const untilFound = (so: Interleavings) => so.failures.length === 0 && so.count < 200

describe('the group commit', () => {
  test('keeps its promises in 200 interleavings', async () => {
    const { failures } = await runInterleavings(
      (seed) => simulations.writer(seed),
      1,
      ({ count }) => count < 200,
    )
    expect(failures).toEqual([])
  })

  test.each(Object.entries(brokenWriters))('control: a writer that %s is found out', async (_, wrap) => {
    const { failures } = await runInterleavings((seed) => simulations.writer(seed, wrap), 1, untilFound)
    expect(failures).not.toEqual([])
  })
})

describe('queue and schedules on several nodes', () => {
  test('keep their promises in 15 interleavings', async () => {
    const { failures } = await runInterleavings(
      (seed) => simulations.nodes(seed),
      1,
      ({ count }) => count < 15,
    )
    expect(failures).toEqual([])
  })

  test('a first tick that a node with a clock of 39 s ahead has planned is to come, and not overdue', async () => {
    expect((await simulations.nodes(300)).broken).toEqual([])
  })

  test.each(Object.entries(brokenNodes))('control: %s are found out', async (_, breakage) => {
    const { failures } = await runInterleavings((seed) => simulations.nodes(seed, breakage), 1, untilFound)
    expect(failures).not.toEqual([])
  })
})

test('the same seed gives the same interleaving, another one another', async () => {
  const digests = async (seed: number) => {
    const [writer, nodes] = [await simulations.writer(seed), await simulations.nodes(seed)]
    return [writer.digest, nodes.digest]
  }
  const first = await digests(7)
  expect(await digests(7)).toEqual(first)
  expect((await digests(8)).filter((digest) => first.includes(digest))).toEqual([])
})

test('threads share the seeds: none is left out, none comes twice', async () => {
  const { signal } = new AbortController()
  const task = { kind: 'writer', seed: 1, milliseconds: 500, mostFailures: 1 } as const
  const { count, failures, checked } = await onAllCores(task, signal, 2)
  expect({ failures, least: count >= 2, some: checked > count }).toEqual({
    failures: [],
    least: true,
    some: true,
  })
  const seeds: number[] = []
  const note = async (seed: number) => {
    seeds.push(seed)
    return { broken: [], steps: 1, checked: 1, digest: '' }
  }
  for (const place of [0, 1]) await runInterleavings(note, 1 + place, (so) => so.count < 3, 2)
  expect(seeds.sort()).toEqual([1, 2, 3, 4, 5, 6])
})
