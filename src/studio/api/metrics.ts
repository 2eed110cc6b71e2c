export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Prometheus' text format. Lines that are none are left out. */
export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    return [{ name, labels: Object.fromEntries(labelsIn(labels)), value: numberOf(value) }]
  })
}

function* labelsIn(text: string): Generator<[string, string]> {
  for (const [, name = '', value = ''] of text.matchAll(LABEL))
    yield [name, value.replace(/\\(.)/g, (_all, one: string) => (one === 'n' ? '\n' : one))]
}

function numberOf(text: string): number {
  return text === '+Inf'
    ? Number.POSITIVE_INFINITY
    : text === '-Inf'
      ? Number.NEGATIVE_INFINITY
      : Number(text)
}

/** One step of a histogram: so many were at most `le`. */
export interface Bucket {
  readonly le: number
  readonly count: number
}

/** The value that this share of the samples stayed below, estimated inside its bucket; undefined without samples. */
export function quantile(share: number, buckets: readonly Bucket[]): number | undefined {
  const steps = buckets.toSorted((a, b) => a.le - b.le)
  const all = steps.at(-1)?.count ?? 0
  if (all === 0) return undefined
  const rank = share * all
  let before: Bucket = { le: 0, count: 0 }
  for (const step of steps) {
    if (step.count >= rank) {
      if (step.le === Number.POSITIVE_INFINITY) return before.le
      const inside = step.count - before.count
      return inside === 0 ? step.le : before.le + ((rank - before.count) / inside) * (step.le - before.le)
    }
    before = step
  }
  return before.le
}
