import { randomSource } from './random-source.ts'
import type { ServerGuard } from './server-guard/server-guard.ts'
import type { TortureContext, TorturePart, TortureResult } from './torture-part.ts'

export interface TortureSettings {
  readonly seed: number
  readonly seconds: number
  readonly short: boolean
  readonly pages?: boolean
  readonly signal: AbortSignal
  readonly tell: (line: string) => void
  /** Milliseconds after which a part counts as hanging. */
  readonly patience?: number
  /** Milliseconds that a part has to close what it opened when it is told to stop. */
  readonly grace?: number
  /** Of the servers that parts start. */
  readonly guard?: Pick<ServerGuard, 'outcome'>
}

export interface TortureOutcome {
  readonly name: string
  readonly summary: string
  readonly checked: number
  readonly figures: TortureResult['figures']
  /** What was wrong, the control that found nothing included. */
  readonly failures: readonly string[]
  /** How many failures the control found, or `none` where a part has no control. */
  readonly control: number | 'none'
  readonly seconds: number
}

const PATIENCE_MS = 45 * 60_000
const GRACE_MS = 10_000
const NOTHING: TortureResult = { checked: 0, failures: [], figures: {} }

/** Runs a part and its control. Never throws: what a part throws is one of its failures. */
export async function runPart(part: TorturePart, settings: TortureSettings): Promise<TortureOutcome> {
  const began = performance.now()
  const failures: string[] = []
  const result = await attempt('run', part.run.bind(part))
  if (failures.length === 0 && result.checked === 0) failures.push('nothing was checked')
  failures.push(...result.failures)
  const guarded = settings.guard?.outcome()
  failures.push(...(guarded?.failures ?? []))
  const control = part.control?.bind(part)
  let found: number | 'none' = 'none'
  if (control && !settings.signal.aborted) {
    settings.tell(`${part.name}: control`)
    found = (await attempt('control', control)).failures.length
    if (found === 0) failures.push('the control found nothing: this check cannot fail')
  }
  // What its server does, broken on purpose, does not count.
  settings.guard?.outcome()
  return {
    name: part.name,
    summary: part.summary,
    checked: result.checked,
    figures: { ...result.figures, ...guarded?.figures },
    failures,
    control: found,
    seconds: Math.round((performance.now() - began) / 1000),
  }

  async function attempt(what: string, run: (context: TortureContext) => Promise<TortureResult>) {
    const late = new AbortController()
    const patience = settings.patience ?? PATIENCE_MS
    const timer = setTimeout(() => late.abort(new Error(`no end after ${patience} ms`)), patience)
    const signal = AbortSignal.any([settings.signal, late.signal])
    const { seed, seconds, short, pages = false } = settings
    const random = randomSource(seed, part.name)
    const tell = (line: string) => settings.tell(`${part.name}: ${line}`)
    try {
      const work = run({ seed, seconds, short, pages, signal, random, tell })
      return await unless(signal, work, settings.grace ?? GRACE_MS)
    } catch (error) {
      failures.push(`the ${what} threw: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
      return NOTHING
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Rejects when the signal is aborted and the work has ended or had its time: one that ignores it holds nothing up. */
function unless<T>(signal: AbortSignal, work: Promise<T>, grace: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const stop = () => {
      timer = setTimeout(() => reject(signal.reason), grace)
      work.finally(() => reject(signal.reason)).catch(() => undefined)
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    work.then(resolve, (error) => reject(signal.aborted ? signal.reason : error)).finally(end)
  })
}
