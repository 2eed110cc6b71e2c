/** Many interleavings, one after the other: each has a seed of its own, which gives it again. */
import { rm } from 'node:fs/promises'
import type { SqliteWriter } from '../../../src/storage/sqlite/core/sqlite-writer.ts'
import { memoryFolder } from './memory-folder.ts'
import { simulateNodes } from './nodes-simulation.ts'
import { nodesTemplate } from './nodes-template.ts'
import type { Outcome } from './outcome.ts'
import type { Breakage } from './simulated-node.ts'
import { simulateWriter, type Writing } from './writer-simulation.ts'

export interface Simulations {
  writer(seed: number, wrap?: (writer: SqliteWriter) => Writing): Promise<Outcome>
  nodes(seed: number, breakage?: Breakage): Promise<Outcome>
  close(): Promise<void>
}

export async function openSimulations(): Promise<Simulations> {
  const folder = await memoryFolder('quoin-simulation-')
  const template = await nodesTemplate(folder)
  return {
    writer: (seed, wrap) => simulateWriter(seed, folder, wrap),
    nodes: (seed, breakage) => simulateNodes(seed, template, breakage),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

export interface Interleavings {
  readonly count: number
  readonly steps: number
  readonly checked: number
  /** With the seed that gives each again. */
  readonly failures: readonly string[]
}

/** From the seed on, in steps, while `more` says so. */
export async function runInterleavings(
  simulate: (seed: number) => Promise<Outcome>,
  seed: number,
  more: (so: Interleavings) => boolean,
  step = 1,
): Promise<Interleavings> {
  let so: Interleavings = { count: 0, steps: 0, checked: 0, failures: [] }
  while (more(so)) {
    const own = seed + so.count * step
    const { broken, steps, checked } = await simulate(own)
    so = {
      count: so.count + 1,
      steps: so.steps + steps,
      checked: so.checked + checked,
      failures: [...so.failures, ...broken.map((what) => `interleaving ${own}: ${what}`)],
    }
  }
  return so
}
