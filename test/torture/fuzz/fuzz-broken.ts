/** The control: the fuzzer on a server with broken routes, until it has found them all or has had its time. */
import type { RandomSource } from '../random-source.ts'
import { notFound } from './broken-routes.ts'
import { openFuzzServerOn } from './fuzz-server.ts'
import { type FuzzResult, runFuzz } from './run-fuzz.ts'

const MOST_ROUNDS = 60
/** One of the routes never answers. */
const PATIENCE_MS = 1_500

export async function fuzzBroken(random: RandomSource, signal?: AbortSignal): Promise<FuzzResult> {
  const server = await openFuzzServerOn({ broken: true })
  try {
    let rounds = 0
    return await runFuzz({
      address: server.address,
      guard: server.guard,
      random,
      documents: 0,
      // What the guard has seen is told at the end only.
      more: (failures) =>
        !signal?.aborted && rounds++ < MOST_ROUNDS && (rounds < 4 || notFound(failures).length > 1),
      patience: PATIENCE_MS,
    })
  } finally {
    await server.close()
  }
}
