/** The control: the fuzzer on a server with broken routes, until it has found them all or has had its time. */
import type { RandomSource } from '../random-source.ts'
import { brokenRoutes, notFound } from './broken-routes.ts'
import { openFuzzServerOn } from './fuzz-server.ts'
import type { Target } from './make-request.ts'
import { type FuzzResult, runFuzz } from './run-fuzz.ts'

const MOST_ROUNDS = 40
/** One of the routes never answers. */
const PATIENCE_MS = 1_500

/** Reads of the same resources, so that it is over soon: the break for odd characters takes some 20 requests to its route. */
const roots = new Set(Object.values(brokenRoutes).map(({ url }) => rootOf(url)))
const only = ({ method, path }: Target) => method === 'GET' && roots.has(rootOf(path.replace('/api/v1', '')))

function rootOf(path: string): string {
  return path.replace('/_system', '').split('/')[1] ?? ''
}

export async function fuzzBroken(random: RandomSource, signal?: AbortSignal): Promise<FuzzResult> {
  const server = await openFuzzServerOn({ broken: true })
  const { address, guard } = server
  const seen: string[] = []
  const more = (failures: readonly string[]) => {
    seen.push(...guard.outcome().failures)
    return !signal?.aborted && rounds++ < MOST_ROUNDS && notFound([...failures, ...seen]).length > 0
  }
  let rounds = 0
  try {
    const result = await runFuzz({ address, guard, random, documents: 0, more, patience: PATIENCE_MS, only })
    return { ...result, failures: [...result.failures, ...seen] }
  } finally {
    await server.close()
  }
}
