/**
 * Reads Prometheus' text format as strictly as its specification is written: HELP and TYPE once and before the samples of
 * their metric, all samples of a metric together, no series twice, histograms whole. Throws an Error that quotes the line.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
 */
export interface ReadSample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

export interface ReadMetric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly ReadSample[]
}

const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped']
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/
const VALUE = /^[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf|NaN)$/

export function readExposition(text: string): ReadMetric[] {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.')
  const metrics: (ReadMetric & { readonly samples: ReadSample[] })[] = []
  let help: { readonly name: string; readonly text: string } | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const refuse = (why: string) => new Error(`${why}: ${JSON.stringify(line)}`)
    const [, comment, of = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line) ?? []
    if (comment === 'HELP') {
      if (metrics.some(({ name }) => name === of)) throw refuse('A second HELP')
      if (/(?<!\\)(?:\\\\)*\\(?![\\n])/.test(rest)) throw refuse('A backslash that is not escaped')
      help = { name: of, text: rest }
    } else if (comment === 'TYPE') {
      if (metrics.some(({ name }) => name === of)) throw refuse('A second TYPE')
      if (help?.name !== of || !TYPES.includes(rest)) throw refuse('A TYPE without HELP, or an unknown one')
      metrics.push({ name: of, type: rest, help: help.text, samples: [] })
    } else {
      const sample = readSample(line)
      const metric = metrics.at(-1)
      if (!sample) throw refuse('Not a sample')
      if (!metric || !belongs(sample.name, metric)) throw refuse('A sample away from its TYPE')
      metric.samples.push(sample)
    }
  }
  for (const metric of metrics) checkSeries(metric)
  return metrics
}

function readSample(line: string): ReadSample | undefined {
  const [, name, , inside = '', value = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (name === undefined || !VALUE.test(value)) return undefined
  const labels = new Map<string, string>()
  for (let rest = inside; rest !== ''; ) {
    const [all, label = '', text = ''] = LABEL.exec(rest) ?? []
    if (all === undefined || labels.has(label)) return undefined
    labels.set(
      label,
      text.replace(/\\(.)/g, (_all, one: string) => (one === 'n' ? '\n' : one)),
    )
    rest = rest.slice(all.length)
  }
  return { name, labels, value: numberOf(value) }
}

function numberOf(text: string): number {
  return text.endsWith('Inf') ? (text.startsWith('-') ? -1 : 1) * Number.POSITIVE_INFINITY : Number(text)
}

function belongs(sample: string, { name, type }: ReadMetric): boolean {
  if (type !== 'histogram') return sample === name
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === name + suffix)
}

function checkSeries({ name, type, samples }: ReadMetric): void {
  const refuse = (why: string) => new Error(`${name}: ${why}`)
  const keys = samples.map((one) => `${one.name} ${keyOf(one, [])}`)
  if (new Set(keys).size < keys.length) throw refuse('a series twice')
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw refuse('a counter below 0')
  if (type !== 'histogram') return
  for (const series of Map.groupBy(samples, (one) => keyOf(one, ['le'])).values()) {
    const buckets = series.filter((one) => one.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => numberOf(labels.get('le') ?? 'NaN'))
    const counts = buckets.map(({ value }) => value)
    if (!isRising(bounds, true) || !isRising(counts, false)) throw refuse('buckets out of order')
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY) throw refuse('no bucket +Inf')
    const [sum, count, ...more] = series.filter((one) => one.name !== `${name}_bucket`)
    if (sum?.name !== `${name}_sum` || count?.name !== `${name}_count` || more.length > 0)
      throw refuse('not one _sum and one _count')
    if (count.value !== counts.at(-1)) throw refuse('_count is not the bucket +Inf')
  }
}

function keyOf({ labels }: ReadSample, without: readonly string[]): string {
  return JSON.stringify([...labels].filter(([label]) => !without.includes(label)).toSorted())
}

function isRising(numbers: readonly number[], strictly: boolean): boolean {
  return numbers.every((one, at) => {
    const before = numbers[at - 1]
    return !Number.isNaN(one) && (before === undefined || (strictly ? one > before : one >= before))
  })
}
