import { notFound } from '../fuzz/broken-routes.ts'
import { fuzzBroken } from '../fuzz/fuzz-broken.ts'
import { type FuzzServerKind, fuzzServerKinds, openFuzzServer } from '../fuzz/fuzz-server.ts'
import { runFuzz } from '../fuzz/run-fuzz.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const LITTLE = 20
const MUCH = 20_000
/** However slow the machine is. */
const LEAST_ROUNDS = 10
const PATIENCE_MS = 20_000

const fuzz: TorturePart = {
  name: 'fuzz',
  summary:
    'Good, bad and hostile requests to every operation of the OpenAPI document, as several callers at once.',
  run,
  control,
}
export default fuzz

async function run(context: TortureContext): Promise<TortureResult> {
  let checked = 0
  const failures: string[] = []
  const figures: Record<string, number | string> = {}
  const passes = fuzzServerKinds.flatMap((kind) => [LITTLE, MUCH].map((documents) => ({ kind, documents })))
  for (const { kind, documents } of context.short ? passes.slice(0, 1) : passes) {
    context.signal.throwIfAborted()
    const name = `${kind}, ${documents} documents`
    const result = await pass(kind, documents, context, (1000 * context.seconds) / passes.length).catch(
      // What the other passes found is reported all the same.
      (error: Error): TortureResult => ({ checked: 0, failures: [`it threw: ${error.stack}`], figures: {} }),
    )
    checked += result.checked
    failures.push(...result.failures.map((what) => `${name}: ${what}`))
    for (const [figure, value] of Object.entries(result.figures)) figures[`${name}: ${figure}`] = value
    context.tell(`${name}: ${result.checked} requests, ${result.failures.length} failures`)
    for (const [kind, [first = '', ...more]] of byKind(result.failures))
      context.tell(`${more.length + 1} x ${kind}, such as ${first.slice(0, 1_000)}`)
  }
  return { checked, failures, figures }
}

/** Failures of one fault are of one method, first segments of a path, and beginning of what is wrong. */
function byKind(failures: readonly string[]): Map<string, readonly string[]> {
  const kinds = new Map<string, readonly string[]>()
  for (const failure of failures) {
    const [, asked = ''] = /^(\S+ (?:\/[a-z_\d-]+){0,4})/.exec(failure) ?? []
    const kind = `${asked}: ${failure.slice(failure.lastIndexOf('}: ') + 3).slice(0, 30)}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), failure])
  }
  return kinds
}

async function pass(
  kind: FuzzServerKind,
  documents: number,
  { random, signal }: TortureContext,
  ms: number,
): Promise<TortureResult> {
  const server = await openFuzzServer(kind)
  try {
    const late = performance.now() + ms
    let rounds = 0
    const more = () => !signal.aborted && (rounds++ < LEAST_ROUNDS || performance.now() < late)
    const { address, guard } = server
    const result = await runFuzz({ address, guard, random, documents, more, patience: PATIENCE_MS })
    return { ...result, failures: [...result.failures, ...(await server.damage())] }
  } finally {
    await server.close()
  }
}

/** Each broken route has to be found, for what is broken in it. */
async function control({ random, signal, tell }: TortureContext): Promise<TortureResult> {
  const { checked, failures } = await fuzzBroken(random, signal)
  const missed = notFound(failures)
  if (missed.length > 0) throw new Error(`not found: ${missed.join(', ')}`)
  tell(`${failures.length} failures, such as: ${failures[0]}`)
  return { checked, failures, figures: {} }
}
