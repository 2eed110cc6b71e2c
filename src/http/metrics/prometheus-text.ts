/** Metrics as Prometheus reads them: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4). */

export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
  /** What is added to the metric's name: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly suffix?: string
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

export function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ labels, value, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}\n`,
      )
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

function labelText(labels: Labels = {}): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
